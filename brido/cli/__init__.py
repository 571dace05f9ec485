"""The commands: thin command lines over the library."""
