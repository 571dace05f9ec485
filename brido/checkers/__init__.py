"""Does the source support a text?"""
