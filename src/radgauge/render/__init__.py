"""How results look: numbers in words, plots, tables, for every output."""
