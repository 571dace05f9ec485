"""What a language model is: the only room that knows how one reads, steps and scores."""
