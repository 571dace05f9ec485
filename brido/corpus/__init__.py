"""Where documents come from: the embedded world, the Hugging Face hub, or a user's own files."""
