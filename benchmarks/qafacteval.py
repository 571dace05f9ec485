"""QAFactEval's speed at the published models' full shapes, with random weights.

    python -m benchmarks.qafacteval [--device cuda] [--profile xsum] [--documents 8]

The metric (batched, sorted by length, deduplicated) runs in alternation with a loop that asks one
question after the other with the same models, on texts of the given sizes. Answers are given, so
spaCy is not needed; every question is kept and has 16 tokens, because random models neither find
their answers again nor end their questions. Results of both ways are compared.
"""

import argparse
import random
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer
from transformers import (
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    ElectraConfig,
    ElectraForQuestionAnswering,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from benchmarks.harness import head, interleave, made_up_words, place, row
from brido.evaluation.qafacteval import questions as questions_module
from brido.evaluation.qafacteval import records
from brido.evaluation.qafacteval.answering import Reader
from brido.evaluation.qafacteval.lerc import Comparison, LercQuip
from brido.evaluation.qafacteval.metric import QAFactEval
from brido.evaluation.qafacteval.questions import MarkedSentence, QuestionGenerator, add_markers
from brido.utils.device import choose_device
from brido.utils.store import ResultStore

QUESTION_TOKENS = 16


@dataclass(frozen=True)
class Profile:
    """Words of a source, sentences of a summary, words and answers of a sentence."""

    source: int
    sentences: int
    words: int
    answers: int


PROFILES = {
    "world": Profile(60, 1, 18, 4),
    "abstract": Profile(160, 1, 20, 5),
    "xsum": Profile(430, 1, 22, 5),
}


def make_models(folder: Path, device: torch.device) -> tuple[Any, Any, Any]:
    """Generator, reader and scorer of the published shapes, weights random."""
    words = [" ".join(made_up_words())] * 2
    pairs = ByteLevelBPETokenizer()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pairs.train_from_iterator(words, 4000, special_tokens=specials, show_progress=False)
    pieces = BertWordPieceTokenizer()
    pieces.train_from_iterator(words, 4000, show_progress=False)
    bart = BartConfig(vocab_size=50267)  # BART-large is the default shape.
    electra = ElectraConfig(
        vocab_size=30522, embedding_size=1024, hidden_size=1024, num_hidden_layers=24,
        num_attention_heads=16, intermediate_size=4096,
    )  # fmt: skip
    roberta = RobertaConfig(
        vocab_size=50265, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
        intermediate_size=4096, max_position_embeddings=514, type_vocab_size=1, num_labels=1,
    )  # fmt: skip
    torch.manual_seed(0)
    for name, kind, config, tokenizer in (
        ("questions", BartForConditionalGeneration, bart, pairs),
        ("answering", ElectraForQuestionAnswering, electra, pieces),
        ("scorer", RobertaForSequenceClassification, roberta, pairs),
    ):
        target = folder / name
        target.mkdir()
        tokenizer.save_model(str(target))
        config.save_pretrained(target)
        loaded = AutoTokenizer.from_pretrained(target)
        if name == "questions":
            add_markers(loaded)
        loaded.save_pretrained(target)
        kind(config).save_pretrained(target)
    return (
        QuestionGenerator(folder / "questions", device, faithful=True),
        Reader(folder / "answering", device, faithful=True),
        LercQuip(folder / "scorer", device),
    )


class GivenAnswers:
    """Stands in for spaCy: every sentence has evenly spread two-word noun chunks."""

    def __init__(self, answers: int) -> None:
        self.answers = answers

    def pipe(self, texts: list[str]) -> list[SimpleNamespace]:
        """One parsed document per text."""
        return [SimpleNamespace(sents=self._sentences(text)) for text in texts]

    def _sentences(self, text: str) -> list[SimpleNamespace]:
        found, start = [], 0
        for sentence in text.split(" . "):
            ends = [start + match.end() for match in re.finditer(r"\S+", sentence)]
            starts = [start + match.start() for match in re.finditer(r"\S+", sentence)]
            chunks = []
            for index in range(self.answers):
                first = index * (len(starts) - 2) // self.answers
                begin, end = starts[first], ends[first + 1]
                chunks.append(SimpleNamespace(start_char=begin, end_char=end, text=text[begin:end]))
            end = start + len(sentence)
            found.append(SimpleNamespace(start_char=start, end_char=end, noun_chunks=chunks))
            start = end + 3
        return found


def workload(profile: Profile, documents: int) -> tuple[list[str], list[str]]:
    """Sources and summaries of the profile's size, a third shorter to a third longer."""
    rng, words = random.Random(1), made_up_words()

    def text(length: int) -> str:
        return " ".join(rng.choices(words, k=round(length * rng.uniform(0.67, 1.33))))

    sources = [text(profile.source) for _ in range(documents)]
    summaries = [
        " . ".join(text(profile.words) for _ in range(profile.sentences)) for _ in range(documents)
    ]
    return sources, summaries


def one_by_one(metric: QAFactEval, sources: list[str], summaries: list[str]) -> list[float]:
    """LERC means by a loop over questions: every model gets one input at a time."""

    def answer(question: str, context: str) -> dict[str, Any]:
        (request,) = metric.reader.requests([(question, context)])
        done: list[Any] = []
        for window in range(len(request.windows)):
            done += metric.reader.run([request], [(0, window)])
        return done[0][1]._asdict()

    means = []
    for source, summary in zip(sources, summaries, strict=True):
        scores = []
        for item in metric._select([summary]):
            first = item.answer.sentence_start
            marked = MarkedSentence(
                item.sentence, item.answer.start - first, item.answer.end - first
            )
            (question,) = metric.generator.generate([metric.generator.encode(marked)])
            answer(question, summary)
            found = answer(question, source)
            score = 0.0
            if found["probability"] > found["null_probability"]:
                compared = Comparison(question, item.answer.text, found["prediction"], source)
                (score,) = metric.scorer.score([metric.scorer.encode(compared)])
            scores.append(score)
        means.append(sum(scores) / len(scores))
    return means


def measure(metric: QAFactEval, profile: str, documents: int, rounds: int) -> None:
    """Print documents a second of both ways, alternating; the best of `rounds` each."""
    texts = workload(PROFILES[profile], documents)
    metric.pipeline = GivenAnswers(PROFILES[profile].answers)

    def batched() -> list[float]:
        metric.store = ResultStore()
        return [row["lerc"] for row in metric.score(*texts)]

    sides = {"batched": batched, "loop": lambda: one_by_one(metric, *texts)}
    found = interleave(sides, rounds, metric.generator.device.type, warm=False)
    fast, slow = found["batched"], found["loop"]
    apart = max(abs(a - b) for a, b in zip(fast.value, slow.value, strict=True))
    row(
        profile, documents, f"{documents / fast.least:.3f}", f"{documents / slow.least:.3f}",
        f"{slow.least / fast.least:.1f}", f"{apart:.0e}",
    )  # fmt: skip


def main() -> None:
    """Print a row for each profile."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--profile", nargs="+", default=["abstract"], choices=list(PROFILES))
    parser.add_argument("--documents", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--batch-tokens", type=int, default=16384)
    options = parser.parse_args()
    device = choose_device(options.device)
    # Random models never find their answers again, and never end a question.
    records.is_kept = lambda *arguments: True
    questions_module.MAX_STEPS = QUESTION_TOKENS
    with tempfile.TemporaryDirectory() as folder:
        models = make_models(Path(folder), device)
    settings = {"answers": "noun_chunks", "scorer": "lerc_quip", "faithful": True}
    prints = {"questions": "", "answering": "", "lerc_quip": ""}
    given = GivenAnswers(1)  # until a profile says how many
    metric = QAFactEval(given, *models, settings, prints, ResultStore(), options.batch_tokens)
    print(place(device.type))
    head("profile", "documents", "batched documents/s", "loop", "ratio", "LERC's difference")
    for profile in options.profile:
        measure(metric, profile, options.documents, options.rounds)


if __name__ == "__main__":
    main()
