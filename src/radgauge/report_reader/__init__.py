"""The embedded report reader: what a radiology report says, from a lexicon and rules, offline."""
