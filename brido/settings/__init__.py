"""params.yaml: what sections are made of, all of them together, and how the file is read."""
