"""The paper's grids as named DVC experiments, and the runner behind `make sweep`."""
