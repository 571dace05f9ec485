"""BRIDO: summarizers that learn to agree with their own majority."""

__version__ = "0.1.0"
