"""Published files: what they are, where they lie, how they are fetched, checked and opened."""
