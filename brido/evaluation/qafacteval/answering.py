"""Answers to questions about a context, or none: the ELECTRA reader fine-tuned on SQuAD 2.0.

The rules of the released code (the SQuAD script's, with its own null candidate) decide what the
answer is: windows, maximum context, n-best list, null score, and the way back to the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

from brido.evaluation.qafacteval.contexts import (
    WINDOW_TOKENS,
    Context,
    ContextReader,
    Window,
    join_pieces,
    original_text,
    owning_windows,
    windows,
)
from brido.models.loading import pretrained, whole
from brido.models.tokens import padded
from brido.work.batches import plan_batches

N_BEST = 20
MAX_ANSWER_PIECES = 30


class Prediction(NamedTuple):
    """The reader's best answer, its probability and that of "no answer".

    By these names the store and the details keep it.
    """

    prediction: str
    probability: float
    null_probability: float


# A context without a single word piece holds no answer.
NOTHING = Prediction("", 0.0, 1.0)


def best_answer(
    context: Context,
    found: Sequence[Window],
    start_logits: Sequence[np.ndarray],
    end_logits: Sequence[np.ndarray],
) -> Prediction:
    """The reader's answer, from the logits of every window (a vector per window, position 0 [CLS]).

    There is at least one window. The null score is the smallest start + end logit of position 0
    over the windows. Probabilities are a softmax over the n-best list: up to 20 distinct texts, the
    null among or after them.
    """
    starts = [np.asarray(logits, dtype=np.float64) for logits in start_logits]
    ends = [np.asarray(logits, dtype=np.float64) for logits in end_logits]
    null_score = min(start[0] + end[0] for start, end in zip(starts, ends, strict=True))
    listed = _n_best(context, _spans(context, found, starts, ends), null_score)
    scores = np.array([score for _, score in listed])
    weights = np.exp(scores - scores.max())
    probabilities = weights / weights.sum()
    null = max(index for index, (text, _) in enumerate(listed) if not text)
    best = next(index for index, (text, _) in enumerate(listed) if text)
    return Prediction(listed[best][0], float(probabilities[best]), float(probabilities[null]))


def _spans(
    context: Context,
    found: Sequence[Window],
    starts: Sequence[np.ndarray],
    ends: Sequence[np.ndarray],
) -> list[tuple[float, int, int]]:
    """(score, first piece, last piece) of the valid spans, best first; ties in the order found."""
    owner = owning_windows(len(context.pieces), found)
    spans = []
    for index, (window, start_logit, end_logit) in enumerate(zip(found, starts, ends, strict=True)):
        # The 20 best over ALL positions, invalid ones included: they use up places in the list.
        best_starts = np.argsort(-start_logit, kind="stable")[:N_BEST] - window.offset
        best_ends = np.argsort(-end_logit, kind="stable")[:N_BEST] - window.offset
        for start in best_starts.tolist():
            if not 0 <= start < window.length or owner[window.first + start] != index:
                continue
            for end in best_ends.tolist():
                if start <= end < min(window.length, start + MAX_ANSWER_PIECES):
                    score = start_logit[start + window.offset] + end_logit[end + window.offset]
                    spans.append((float(score), window.first + start, window.first + end))
    return sorted(spans, key=lambda span: -span[0])


def _n_best(
    context: Context, spans: list[tuple[float, int, int]], null_score: float
) -> list[tuple[str, float]]:
    """Up to 20 distinct texts with their scores, best first, the null ("") among them or appended.

    The null comes after every span of the same score.
    """
    position = sum(score >= null_score for score, _, _ in spans)
    listed: dict[str, float] = {}
    for span in [*spans[:position], None, *spans[position:]]:
        if len(listed) >= N_BEST:
            break
        text, score = ("", null_score) if span is None else (_text(context, *span[1:]), span[0])
        listed.setdefault(text, score)
    listed.setdefault("", null_score)
    # The released code's stand-in where nothing but the null exists.
    return list(listed.items()) if len(listed) > 1 else [("empty", 0.0), ("", null_score)]


def _text(context: Context, first: int, last: int) -> str:
    """The answer from piece `first` to piece `last`, as it is written."""
    words = context.words_text(context.piece_words[first], context.piece_words[last])
    return original_text(join_pieces(context.pieces[first : last + 1]), words)


@dataclass
class _Request:
    """One question on one context, while its windows are in flight."""

    context: Context
    question: list[int]
    windows: list[Window]
    logits: dict[int, tuple[np.ndarray, np.ndarray]]


class Reader:
    """The reader of a converted model folder.

    `faithful` pads every window to 384 positions as the released code does; the padding's logits
    compete for the 20 places. Otherwise windows are only padded to the longest of their batch.
    """

    def __init__(self, folder: Path, device: torch.device, faithful: bool = True) -> None:
        self.tokenizer = pretrained(AutoTokenizer, folder)
        model = whole(AutoModelForQuestionAnswering, folder, dtype=torch.float32)
        self.model = model.to(device).eval()
        self.device = device
        self.faithful = faithful
        self.contexts = ContextReader(self.tokenizer)

    def requests(self, pairs: Sequence[tuple[str, str]]) -> list[_Request]:
        """What has to be run for each (question, context); every distinct context is cut once."""
        contexts = {text: self.contexts.read(text) for text in dict.fromkeys(c for _, c in pairs)}
        prepared = []
        for question, text in pairs:
            ids = self.contexts.question_ids(question)
            found = windows(len(contexts[text].pieces), len(ids))
            prepared.append(_Request(contexts[text], ids, found, {}))
        return prepared

    def batches(
        self, requests: Sequence[_Request], batch_tokens: int
    ) -> list[list[tuple[int, int]]]:
        """Length-sorted batches of (request, window) for `run`."""
        jobs = [(r, w) for r, request in enumerate(requests) for w in range(len(request.windows))]
        lengths = [self._width(requests[r], requests[r].windows[w]) for r, w in jobs]
        groups = plan_batches(lengths, batch_tokens)
        return [[jobs[index] for index in group] for group in groups]

    def _width(self, request: _Request, window: Window) -> int:
        return WINDOW_TOKENS if self.faithful else len(request.question) + window.length + 3

    @torch.no_grad()
    def run(
        self, requests: Sequence[_Request], batch: Sequence[tuple[int, int]]
    ) -> list[tuple[int, Prediction]]:
        """Run one batch of windows; returns the requests that it completed and their answers."""
        tokenizer = self.tokenizer
        rows, kinds = [], []
        for r, w in batch:
            request, window = requests[r], requests[r].windows[w]
            pieces = request.context.ids[window.first : window.first + window.length]
            front = [tokenizer.cls_token_id, *request.question, tokenizer.sep_token_id]
            rows.append([*front, *pieces, tokenizer.sep_token_id])
            kinds.append([0] * len(front) + [1] * (len(pieces) + 1))
        width = WINDOW_TOKENS if self.faithful else None
        mask = padded([[1] * len(row) for row in rows], 0, width)
        output = self.model(
            input_ids=padded(rows, tokenizer.pad_token_id, width).to(self.device),
            attention_mask=mask.to(self.device),
            token_type_ids=padded(kinds, 0, width).to(self.device),
        )
        starts, ends = output.start_logits.cpu().numpy(), output.end_logits.cpu().numpy()
        done = []
        for row, (r, w) in enumerate(batch):
            used = starts.shape[1] if self.faithful else len(rows[row])
            requests[r].logits[w] = starts[row, :used].copy(), ends[row, :used].copy()
            if len(requests[r].logits) == len(requests[r].windows):
                done.append((r, self._answer(requests[r])))
        return done

    @staticmethod
    def _answer(request: _Request) -> Prediction:
        logits = [request.logits[index] for index in range(len(request.windows))]
        request.logits = {}
        return best_answer(
            request.context, request.windows, [s for s, _ in logits], [e for _, e in logits]
        )
