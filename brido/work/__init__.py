"""What is done and what is left: resumable units of work, and who does them."""
