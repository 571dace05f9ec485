"""What every room uses and no result depends on."""
