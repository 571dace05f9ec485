"""Answers to questions about a context, or none: the ELECTRA reader fine-tuned on SQuAD 2.0.

The rules of the released code (the SQuAD script's, with its own null candidate) decide what the
answer is: windows, maximum context, n-best list, null score, and the way back to the text.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

from brido.evaluation.qafacteval.contexts import (
    WINDOW_TOKENS,
    Context,
    Window,
    join_pieces,
    original_text,
    owning_windows,
    windows,
)
from brido.models.loading import pretrained, whole

N_BEST = 20
MAX_ANSWER_PIECES = 30
MAX_QUESTION_PIECES = 64
# What the released code splits words at; a no-break space stays in its word.
_WORD = re.compile("[^ \t\r\n\u202f]+")

# Of a window: the logits of each position as start and as end of the answer.
Logits = tuple[np.ndarray, np.ndarray]


# The reader's best answer, its probability and that of "no answer", as the store keeps them.
Prediction = dict[str, Any]
# A context without a single word piece holds no answer.
NOTHING: Prediction = {"prediction": "", "probability": 0.0, "null_probability": 1.0}


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
    return {
        "prediction": listed[best][0],
        "probability": float(probabilities[best]),
        "null_probability": float(probabilities[null]),
    }


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


class Reader:
    """The reader of a converted model folder.

    Every window is padded to 384 positions, as in the released code: the padding's logits compete
    for the 20 places.
    """

    def __init__(self, folder: Path, device: torch.device) -> None:
        self.tokenizer = pretrained(AutoTokenizer, folder)
        model = whole(AutoModelForQuestionAnswering, folder, dtype=torch.float32)
        self.model = model.to(device).eval()
        self.device = device

    def context(self, text: str) -> Context:
        """The context of `text`, word by word."""
        words = [match.span() for match in _WORD.finditer(text)]
        surface = [text[start:end] for start, end in words]
        # Without a warning: what is longer than the model reads is cut into windows.
        how = {"is_split_into_words": True, "add_special_tokens": False, "verbose": False}
        read = self.tokenizer(surface, **how)
        return Context(text, words, read.tokens(), read["input_ids"], read.word_ids())

    def question_ids(self, question: str) -> list[int]:
        """The first 64 piece ids of a question."""
        return self.tokenizer(question, add_special_tokens=False)["input_ids"][:MAX_QUESTION_PIECES]

    def run(
        self, pairs: Sequence[tuple[str, str]], batch_tokens: int
    ) -> Iterator[list[tuple[int, Prediction]]]:
        """Yield (index of the pair, answer) of pairs (question, context), batch by batch.

        An answer comes with the last window of its context.
        """
        contexts = {text: self.context(text) for text in dict.fromkeys(text for _, text in pairs)}
        asked = [self.question_ids(question) for question, _ in pairs]
        read = [contexts[text] for _, text in pairs]
        cut = [windows(len(one.pieces), len(ids)) for one, ids in zip(read, asked, strict=True)]
        yield [(index, NOTHING) for index, found in enumerate(cut) if not found]
        jobs = [(index, window) for index, found in enumerate(cut) for window in found]
        logits: dict[int, list[Logits]] = defaultdict(list)
        size = max(1, batch_tokens // WINDOW_TOKENS)
        for first in range(0, len(jobs), size):
            batch = jobs[first : first + size]
            rows = [
                (asked[index], read[index].ids[window.first : window.first + window.length])
                for index, window in batch
            ]
            done = []
            for (index, _), found in zip(batch, self._logits(rows), strict=True):
                logits[index].append(found)
                if len(logits[index]) == len(cut[index]):
                    starts, ends = zip(*logits.pop(index), strict=True)
                    done.append((index, best_answer(read[index], cut[index], starts, ends)))
            yield done

    @torch.no_grad()
    def _logits(self, windows: Sequence[tuple[list[int], list[int]]]) -> list[Logits]:
        """Start and end logits of windows, each given as its question's and its context's ids."""
        tokenizer = self.tokenizer
        rows, kinds = [], []
        for question, pieces in windows:
            front = [tokenizer.cls_token_id, *question, tokenizer.sep_token_id]
            rows.append([*front, *pieces, tokenizer.sep_token_id])
            kinds.append([0] * len(front) + [1] * (len(pieces) + 1))
        how: dict[str, Any] = {"padding": "max_length", "max_length": WINDOW_TOKENS}
        batch = {"input_ids": rows, "token_type_ids": kinds}
        inputs = tokenizer.pad(batch, **how, return_tensors="pt")
        output = self.model(**inputs.to(self.device))
        starts, ends = output.start_logits.cpu().numpy(), output.end_logits.cpu().numpy()
        return list(zip(starts, ends, strict=True))
