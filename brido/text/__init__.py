"""Texts as every room reads them: words and sentences, control tokens of models, their thoughts."""
