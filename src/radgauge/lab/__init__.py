"""Training, generation and integrations: what uses metrics to make models."""
