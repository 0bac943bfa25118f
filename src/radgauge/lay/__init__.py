"""Reports in words that patients understand: writer, sentence sets, checks, studies."""
