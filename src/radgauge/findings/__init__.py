"""Two report readings side by side: what matches, what is missing, added, contradicted or changed."""
