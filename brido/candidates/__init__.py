"""Where the N candidates of a document come from."""
