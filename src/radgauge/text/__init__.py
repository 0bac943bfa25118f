"""Language code without metric logic: tokens, sentences, sections."""
