"""Tables and figures of Zhao et al., Layman's RRG (2024): what a verb printed for one paper."""
