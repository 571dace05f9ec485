"""What this checkout does with the library: presets, the paper's grids and tables, the study."""
