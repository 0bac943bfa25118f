"""An independent reader of everyday wording, and the comparison of a lay text with the report it stands for.

Nothing here knows the writer, its terms or the report reader: the knowledge is `data/*.toml`, patterns of how
people speak of findings, parts, devices, degree, change, doubt and advice, in professional and in plain words.
"""
