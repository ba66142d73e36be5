"""Further ways by which alerts leave, beside banner and sound."""
