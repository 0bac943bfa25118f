"""Networks and tables that read texts."""
