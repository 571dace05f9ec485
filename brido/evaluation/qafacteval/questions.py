"""A question for every answer, by the BART that was trained to turn statements into questions.

The input is the one sentence that holds the answer, with the answer between markers. What the
released code does and a plain `generate` does not: markers swallow the spaces around them, the
decoder starts from <s>, and the beam search is AllenNLP's (see beam.py). After the first token the
decoder's positions are one too high: 0, 2, 3, 4, where the model was trained with 0, 1, 2, 3.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import AddedToken
from transformers import AutoTokenizer, BartForConditionalGeneration
from transformers.cache_utils import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from brido.evaluation.qafacteval.beam import beam_search
from brido.models.loading import pretrained, whole
from brido.models.sharing.pasts import CACHE
from brido.models.tokens import padded
from brido.work.batches import plan_batches

OPENING, CLOSING = "<m>", "</m>"
NUM_BEAMS = 4
MAX_STEPS = 100
# The classic clean-up of decoded text, which transformers 5 no longer does for byte-level BPE.
_CLEANUP = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"),
    (" n't", "n't"), (" 'm", "'m"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip


class MarkedSentence(NamedTuple):
    """A sentence and the answer in it: character offsets, the end exclusive."""

    sentence: str
    start: int
    end: int

    def marked(self) -> str:
        """Return the sentence with the markers around the answer, as the model reads it."""
        before, answer = self.sentence[: self.start], self.sentence[self.start : self.end]
        return f"{before}{OPENING} {answer} {CLOSING}{self.sentence[self.end :]}"


def clean_up(text: str) -> str:
    """`text` without the spaces before punctuation and English contractions, in fixed order."""
    for spaced, joined in _CLEANUP:
        text = text.replace(spaced, joined)
    return text


class QuestionGenerator:
    """The question generator of a converted model folder.

    The decoder's position table is shifted once, so that unchanged modelling code gives the
    released code's positions 0, 2, 3, 4, ...
    """

    def __init__(self, folder: Path, device: torch.device) -> None:
        self.tokenizer = pretrained(AutoTokenizer, folder)
        model = whole(BartForConditionalGeneration, folder, dtype=torch.float32)
        self.model = model.to(device).eval()
        self.device = device
        shift_positions(self.model)

    def encode(self, item: MarkedSentence) -> list[int]:
        """Token ids with <s> and </s>; cut to what the model's position table holds."""
        limit = self.model.config.max_position_embeddings
        return self.tokenizer(item.marked(), truncation=True, max_length=limit)["input_ids"]

    def run(
        self, items: Sequence[MarkedSentence], batch_tokens: int
    ) -> Iterator[list[tuple[int, str]]]:
        """Yield (index of the item, question), a batch of like lengths after the other."""
        encoded = [self.encode(item) for item in items]
        for group in plan_batches([len(ids) * NUM_BEAMS for ids in encoded], batch_tokens):
            questions = self.generate([encoded[index] for index in group])
            yield list(zip(group, questions, strict=True))

    def generate(self, encoded: Sequence[list[int]]) -> list[str]:
        """Return the question for each encoded sentence, all in one batch."""
        config = self.model.config
        step = _DecoderStep(self.model, padded(encoded, config.pad_token_id).to(self.device))
        start = torch.full((len(encoded),), config.bos_token_id, device=self.device)
        found = beam_search(step, start, config.eos_token_id, NUM_BEAMS, MAX_STEPS)
        return [self.detokenise(ids) for ids, _ in found]

    def detokenise(self, ids: list[int]) -> str:
        """The text of decoder ids: end tokens stripped, other special tokens kept, cleaned up.

        The slow tokenizer that the model was released with joins added tokens by spaces.
        """
        while ids and ids[-1] == self.model.config.eos_token_id:
            ids = ids[:-1]
        markers = self.tokenizer.convert_tokens_to_ids([OPENING, CLOSING])
        pieces: list[list[int]] = []
        for token in ids:
            if pieces and token not in markers and pieces[-1][-1] not in markers:
                pieces[-1].append(token)
            else:
                pieces.append([token])
        how = {"skip_special_tokens": False, "clean_up_tokenization_spaces": False}
        return clean_up(" ".join(self.tokenizer.decode(piece, **how) for piece in pieces)).strip()


@torch.no_grad()
def shift_positions(model: BartForConditionalGeneration) -> None:
    """Move the decoder's positions from 1 on up by one, in place: 0, 2, 3, 4, ...

    Row r of the table stands for position r - 2.
    """
    table = model.get_decoder().embed_positions.weight
    table[3:-1] = table[4:].clone()


def add_markers(tokenizer: PreTrainedTokenizerBase) -> None:
    """Add the two markers to a BART tokenizer, so that they swallow the spaces around them."""
    how = {"lstrip": True, "rstrip": True, "normalized": False}
    tokenizer.add_tokens([AddedToken(marker, **how) for marker in (OPENING, CLOSING)])


class _DecoderStep:
    """One decoder step with its caches, as beam_search asks for it."""

    def __init__(self, model: BartForConditionalGeneration, source: torch.Tensor) -> None:
        self.model = model
        padding: Any = model.config.pad_token_id
        self.mask = source.ne(padding).long()
        with torch.no_grad():
            self.encoded = model.get_encoder()(source, attention_mask=self.mask)[0]
        self.cache: Any = EncoderDecoderCache(
            DynamicCache(config=model.config), DynamicCache(config=model.config)
        )

    def __call__(self, tokens: torch.Tensor, parents: torch.Tensor | None) -> torch.Tensor:
        if parents is not None:
            self.cache.reorder_cache(parents)
            self.encoded, self.mask = self.encoded[parents], self.mask[parents]
        output = self.model(
            attention_mask=self.mask,
            encoder_outputs=BaseModelOutput(last_hidden_state=self.encoded),
            decoder_input_ids=tokens[:, None],
            **{CACHE: self.cache},
            use_cache=True,
        )
        return output.logits[:, -1].log_softmax(dim=-1)
