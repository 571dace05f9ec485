"""What the examiner learns from, and the training of its small models.

The examples come from the facts of the world's training documents, where every answer is known.
Nothing here looks at what a summarizer wrote.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import spacy
import torch
import torch.nn.functional as F
from spacy.training import Example
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer
from transformers import (
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    ElectraConfig,
    ElectraForQuestionAnswering,
)

from brido.evaluation.qafacteval.contexts import ContextReader
from brido.evaluation.qafacteval.questions import MarkedSentence, add_markers
from brido.models.loading import pretrained
from brido.models.tokens import padded
from brido.utils.progress import Progress
from brido.work.batches import plan_batches
from brido.world import lexicon, reading
from brido.world.events import event_types

SEED = 0
VOCABULARY, BATCH_TOKENS = 2500, 1024
# The question about a slot that is not one person's or firm's role.
_PLAIN = {
    "town": "In which town was it?",
    "county": "In which county was it?",
    "age": "How old was the person?",
    "day": "On which day was it?",
    "money": "How much money was it?",
    "number": "How many were there?",
}
_ROLES = {lexicon.PERSON: "Who was the", lexicon.ORGANISATION: "Which firm was the"}
_SLOTS = {
    event.name: {**event.keys, **{option.slot: option.type for option in event.options}}
    for event in event_types()
}
Span = tuple[int, int]


def question_about(slot: str, kind: str) -> str:
    """Return the one question that the examiner asks about a slot."""
    return _PLAIN.get(slot) or f"{_ROLES.get(kind, 'What was the')} {slot}?"


def find_value(text: str, value: str) -> Span | None:
    """Where `value` first stands in `text` as whole words; None where it does not."""
    match = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)
    return match.span() if match else None


def statements(row: Mapping[str, Any]) -> list[tuple[Span, str, str]]:
    """What the reference of a corpus row states: place, slot and type, in order of appearance."""
    event = row["facts"][0]["value"]
    found = [
        (find_value(row["summary"], each.value), each.slot, each.type)
        for each in reading.read(row["summary"], event).statements
    ]
    return sorted((span, slot, kind) for span, slot, kind in found if slot and span)


def readings(
    rows: Sequence[dict[str, Any]], rng: random.Random
) -> Iterator[tuple[str, str, Span | None]]:
    """(question, context, answer span or None): documents and references, answerable or not."""
    for row in rows:
        in_document = {f["slot"]: f["value"] for f in row["facts"] if f["in_document"]}
        told = {slot: span for span, slot, _ in statements(row)}
        for slot, kind in _SLOTS[row["facts"][0]["value"]].items():
            question = question_about(slot, kind)
            if slot in in_document:
                if span := find_value(row["document"], in_document[slot]):
                    yield question, row["document"], span
            elif rng.random() < 0.7:
                yield question, row["document"], None
            if slot in told:
                yield question, row["summary"], told[slot]
            elif rng.random() < 0.3:
                yield question, row["summary"], None


def train_examiner(folder: Path, rows: Sequence[dict]) -> None:
    """Train every model of the examiner into `folder`, from rows of the world's corpus."""
    asked = [
        (MarkedSentence(row["summary"], *span), question_about(slot, kind))
        for row in rows
        for span, slot, kind in statements(row)
    ]
    first = sum(len(statements(row)) for row in rows[:1000])
    texts = [text for row in rows for text in (row["document"], row["summary"])]
    texts += [question for _, question in asked[:first]]
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    for name, pieces, options in (
        ("questions", ByteLevelBPETokenizer(), {"special_tokens": specials}),
        ("answering", BertWordPieceTokenizer(), {}),
    ):
        (folder / name).mkdir(parents=True, exist_ok=True)
        pieces.train_from_iterator(texts, VOCABULARY, show_progress=False, **options)
        pieces.save_model(str(folder / name))
    train_chunks(rows[:1000], folder / "spacy")
    train_questions(asked, folder / "questions")
    train_reader(rows, folder / "answering")


def train(
    label: str, model: Any, lengths: Sequence[int], loss_of: Callable[[list[int]], Any], rate: float
) -> None:
    """Minimise the loss of shuffled, length-sorted batches once: AdamW, linear decay, clipped at 1.

    `loss_of` gets the indices of a batch.
    """
    batches = plan_batches(lengths, BATCH_TOKENS)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    total = len(batches)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / 100) * max(0.0, 1 - step / total)
    )
    model.train()
    with Progress(f"examiner: {label}", total, "batches") as progress:
        for batch in random.Random(SEED).sample(batches, total):
            loss = loss_of(batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            progress.advance(note=f"loss {loss.item():.3f}")
    model.eval()


def train_questions(asked: Sequence[tuple[MarkedSentence, str]], folder: Path) -> None:
    """Train the question generator: a sentence with its answer marked, then the question."""
    config = BartConfig(
        d_model=128, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=256, decoder_ffn_dim=256, dropout=0.0,
        max_position_embeddings=128, decoder_start_token_id=2,
    )  # fmt: skip
    config.save_pretrained(folder)
    tokenizer = pretrained(AutoTokenizer, folder)
    add_markers(tokenizer)
    config.vocab_size = len(tokenizer)
    torch.manual_seed(SEED)
    model = BartForConditionalGeneration(config)
    with torch.no_grad():
        # Cross-attention starts by passing the source's states on: small models learn it late.
        for layer in model.get_decoder().layers:
            for part in (layer.encoder_attn.v_proj, layer.encoder_attn.out_proj):
                part.weight.add_(torch.eye(len(part.weight)))
    sources = [tokenizer(sentence.marked())["input_ids"] for sentence, _ in asked]
    targets = [tokenizer(question)["input_ids"] for _, question in asked]

    def loss_of(batch: list[int]) -> torch.Tensor:
        source = padded([sources[index] for index in batch], 1)
        # From <s>, as the released generator starts; its end token is learned like any other.
        target = padded([targets[index] for index in batch], 1)
        logits = model(
            input_ids=source, attention_mask=(source != 1).long(), decoder_input_ids=target[:, :-1]
        ).logits
        return F.cross_entropy(logits.transpose(1, 2), target[:, 1:], ignore_index=1)

    train("questions", model, [len(ids) for ids in sources], loss_of, 2e-3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def train_reader(rows: Sequence[dict], folder: Path) -> None:
    """Train the reader, spans and null alike."""
    config = ElectraConfig(
        embedding_size=128, hidden_size=128, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=256, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    config.save_pretrained(folder)
    tokenizer = pretrained(AutoTokenizer, folder, do_lower_case=True)
    config.vocab_size = len(tokenizer)
    torch.manual_seed(SEED)
    model = ElectraForQuestionAnswering(config)
    contexts = ContextReader(tokenizer)
    inputs, answers = [], []
    for question, text, span in readings(rows, random.Random(SEED)):
        context, asked = contexts.read(text), contexts.question_ids(question)
        front = [tokenizer.cls_token_id, *asked, tokenizer.sep_token_id]
        inputs.append((front, [*context.ids, tokenizer.sep_token_id]))
        answers.append(_pieces(context, span, len(front)))

    def loss_of(batch: list[int]) -> torch.Tensor:
        parts = [inputs[index] for index in batch]
        output = model(
            input_ids=padded([front + rest for front, rest in parts], 0),
            attention_mask=padded([[1] * len(front + rest) for front, rest in parts], 0),
            token_type_ids=padded([[0] * len(front) + [1] * len(rest) for front, rest in parts], 0),
        )
        wanted = torch.tensor([answers[index] for index in batch])
        starts = F.cross_entropy(output.start_logits, wanted[:, 0])
        return starts + F.cross_entropy(output.end_logits, wanted[:, 1])

    train("reader", model, [len(front) + len(rest) for front, rest in inputs], loss_of, 1e-3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _pieces(context: Any, span: Span | None, offset: int) -> Span:
    """First and last position of an answer in the input; (0, 0) where there is none."""
    if span is None:
        return 0, 0
    inside = [
        piece
        for piece, word in enumerate(context.piece_words)
        if context.words[word][0] < span[1] and context.words[word][1] > span[0]
    ]
    # Punctuation that sticks to the last word does not belong to the answer.
    while len(inside) > 1 and context.pieces[inside[-1]] in {",", ".", "'", "s"}:
        inside.pop()
    return inside[0] + offset, inside[-1] + offset


def train_chunks(rows: Sequence[dict], folder: Path) -> None:
    """Train a spaCy tagger and parser whose noun chunks are the references' statements."""
    spacy.util.fix_random_seed(SEED)
    nlp = spacy.blank("en")
    nlp.add_pipe("morphologizer")
    nlp.add_pipe("parser")
    gold = [Example.from_dict(nlp.make_doc(row["summary"]), _parse(nlp, row)) for row in rows]
    optimizer = nlp.initialize(lambda: gold)
    rng, epochs = random.Random(SEED), 3
    with Progress("examiner: noun chunks", epochs * len(gold), "sentences") as progress:
        for _ in range(epochs):
            for batch in spacy.util.minibatch(rng.sample(gold, len(gold)), 64):
                nlp.update(batch, sgd=optimizer)
                progress.advance(len(batch))
    nlp.meta["name"], nlp.meta["version"] = "world_examiner", "1"
    nlp.to_disk(folder)


def _parse(nlp: Any, row: dict) -> dict[str, list]:
    """Heads, labels and parts of speech: a statement's last word heads it and hangs on the root."""
    doc = nlp.make_doc(row["summary"])
    spans = [doc.char_span(*place, alignment_mode="expand") for place, *_ in statements(row)]
    inside = {token.i: span.end - 1 for span in spans if span for token in span}
    root = next(token.i for token in doc if token.i not in inside)
    heads, labels, tags = [], [], []
    for token in doc:
        head = inside.get(token.i)
        heads.append(root if head in {None, token.i} else head)
        labels.append("dep" if head is None else "pobj" if head == token.i else "compound")
        tags.append("X" if head is None else "PROPN")
    labels[root] = "ROOT"
    return {"heads": heads, "deps": labels, "pos": tags}
