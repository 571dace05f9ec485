"""The embedded world: synthetic news with known facts, written for this project.

`documents(settings, split)` yields the rows of the corpus table; `reading` finds every mention of a
text and reads summaries back into facts.
"""

from brido.world.generator import document, documents

__all__ = ["document", "documents"]
