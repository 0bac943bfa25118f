"""Studies of systems and of metrics: agreement, comparison, oracles, perturbation, behaviour."""
