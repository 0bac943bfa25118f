"""Files in and out: tables, case files, corpora, judgments, scores files."""
