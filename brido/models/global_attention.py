"""LED and PRIMERA (arXiv 2004.05150, 2110.08499): local attention, and a few tokens that see all.

Which tokens those are is the caller's choice in transformers, none by default. The authors of LED
summarize with the first token, those of PRIMERA with every `<doc-sep>` between documents too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from torch import Tensor
from transformers import PreTrainedModel

from brido.models.encoder_decoder import EncoderDecoder, EncoderPrompt
from brido.models.interface import ModelParts
from brido.models.tokens import Sources

SEPARATOR = "<doc-sep>"
# In a mask: a token that attends to all and that all attend to.
GLOBAL = 2


@dataclass(frozen=True)
class GlobalAttention(EncoderDecoder):
    """A family whose first token has global attention, and every token whose mask is GLOBAL."""

    marks: ClassVar[tuple[int, ...]] = (0, 1, GLOBAL)
    shares: bool = False

    def prompt(self, parts: ModelParts) -> EncoderPrompt:
        """See Family; documents spell the separators between them."""
        return replace(super().prompt(parts), spelled=SEPARATOR in parts.tokenizer.get_vocab())

    def read(self, parts: ModelParts, documents: Sequence[str]) -> Sources:
        """See Family; the mask of separators between documents is GLOBAL."""
        sources = super().read(parts, documents)
        separator = parts.tokenizer.get_added_vocab().get(SEPARATOR)
        if separator is not None:
            sources.mask[(sources.ids == separator) & (sources.mask > 0)] = GLOBAL
        return sources

    def encode(self, model: PreTrainedModel, sources: Sources) -> Tensor:
        attends = (sources.mask == GLOBAL).long()
        attends[:, 0] = 1
        states: Tensor = model.get_encoder()(
            input_ids=sources.ids,
            attention_mask=(sources.mask > 0).long(),
            global_attention_mask=attends,
        )[0]
        return states

    def positions(self, config: Any) -> int | None:
        length: int = config.max_encoder_position_embeddings
        return length

    def written_positions(self, config: Any) -> int | None:
        length: int = config.max_decoder_position_embeddings
        return length


FAMILIES = (GlobalAttention("led"),)
