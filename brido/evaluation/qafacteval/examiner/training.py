"""Trains the examiner's small models and its spaCy pipeline, and saves them as converted models."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer
from transformers import (
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    ElectraConfig,
    ElectraForQuestionAnswering,
    PreTrainedModel,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from brido.evaluation.qafacteval.batching import length_sorted_batches, pad
from brido.evaluation.qafacteval.contexts import ContextReader
from brido.evaluation.qafacteval.examiner import examples
from brido.evaluation.qafacteval.lerc import Comparison
from brido.evaluation.qafacteval.questions import MarkedSentence, add_markers
from brido.progress import Progress

VOCABULARY = 2500
BATCH_TOKENS = 4096
_SIZE = {
    "hidden_size": 128,
    "num_attention_heads": 4,
    "intermediate_size": 256,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}


def train(
    label: str,
    model: PreTrainedModel,
    lengths: Sequence[int],
    loss_of: Callable[[list[int]], torch.Tensor],
    epochs: int,
    learning_rate: float,
    seed: int,
) -> None:
    """Minimise the loss of shuffled, length-sorted batches: AdamW, linear decay, clipped at 1.

    `loss_of` gets the indices of a batch.
    """
    batches = length_sorted_batches(lengths, BATCH_TOKENS)
    rng = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.01)
    total = epochs * len(batches)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / 100) * max(0.0, 1 - step / total)
    )
    model.train()
    with Progress(f"examiner: {label}", total, "batches") as progress:
        for _ in range(epochs):
            for batch in rng.sample(batches, len(batches)):
                loss = loss_of(batch)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                progress.advance(note=f"loss {loss.item():.3f}")
    model.eval()


def byte_pairs(folder: Path, texts: Sequence[str]) -> None:
    """Write vocab.json and merges.txt of a byte-level BPE with BART's special tokens."""
    tokenizer = ByteLevelBPETokenizer()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator(texts, VOCABULARY, special_tokens=specials, show_progress=False)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_model(str(folder))


def word_pieces(folder: Path, texts: Sequence[str]) -> None:
    """Write vocab.txt of an uncased WordPiece."""
    tokenizer = BertWordPieceTokenizer()
    tokenizer.train_from_iterator(texts, VOCABULARY, show_progress=False)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_model(str(folder))


def _tokenizer(folder: Path, config: Any, **options: Any) -> Any:
    config.save_pretrained(folder)
    return AutoTokenizer.from_pretrained(folder, **options)


def train_questions(rows: Sequence[dict], scratch: Path, target: Path, seed: int) -> None:
    """Train the question generator and save it as the converted folder `target`."""
    config = BartConfig(
        d_model=128, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=256, decoder_ffn_dim=256, dropout=0.0,
        max_position_embeddings=128, decoder_start_token_id=2,
    )  # fmt: skip
    tokenizer = _tokenizer(scratch, config)
    add_markers(tokenizer)
    config.vocab_size = len(tokenizer)
    torch.manual_seed(seed)
    model = BartForConditionalGeneration(config)
    sources, targets = [], []
    for sentence, start, end, question in examples.questions(rows):
        sources.append(tokenizer(MarkedSentence(sentence, start, end).marked())["input_ids"])
        targets.append(tokenizer(question)["input_ids"])

    def loss_of(batch: list[int]) -> torch.Tensor:
        source = pad([sources[index] for index in batch], 1)
        # From <s>, as the released generator starts; its end token is learned like any other.
        target = pad([targets[index] for index in batch], 1)
        logits = model(
            input_ids=source, attention_mask=(source != 1).long(), decoder_input_ids=target[:, :-1]
        ).logits
        return F.cross_entropy(
            logits.transpose(1, 2), target[:, 1:], ignore_index=1, label_smoothing=0.1
        )

    train("questions", model, [len(ids) for ids in sources], loss_of, 1, 2e-3, seed)
    _save(model, tokenizer, target)


def train_reader(rows: Sequence[dict], scratch: Path, target: Path, seed: int, epochs: int) -> None:
    """Train the reader, spans and null alike, and save it as the converted folder `target`."""
    config = ElectraConfig(embedding_size=128, num_hidden_layers=3, **_SIZE)
    tokenizer = _tokenizer(scratch, config, do_lower_case=True)
    config.vocab_size = len(tokenizer)
    torch.manual_seed(seed)
    model = ElectraForQuestionAnswering(config)
    contexts = ContextReader(tokenizer)
    inputs, answers = [], []
    for question, text, span in examples.readings(rows, random.Random(seed)):
        context, asked = contexts.read(text), contexts.question_ids(question)
        front = [tokenizer.cls_token_id, *asked, tokenizer.sep_token_id]
        inputs.append((front, [*context.ids, tokenizer.sep_token_id]))
        answers.append(_pieces(context, span, len(front)))

    def loss_of(batch: list[int]) -> torch.Tensor:
        rows_ = [inputs[index][0] + inputs[index][1] for index in batch]
        kinds = [[0] * len(inputs[i][0]) + [1] * len(inputs[i][1]) for i in batch]
        output = model(
            input_ids=pad(rows_, 0),
            attention_mask=pad([[1] * len(row) for row in rows_], 0),
            token_type_ids=pad(kinds, 0),
        )
        wanted = torch.tensor([answers[index] for index in batch])
        starts = F.cross_entropy(output.start_logits, wanted[:, 0])
        return starts + F.cross_entropy(output.end_logits, wanted[:, 1])

    lengths = [len(front) + len(rest) for front, rest in inputs]
    train("reader", model, lengths, loss_of, epochs, 1e-3, seed)
    _save(model, tokenizer, target)


def _pieces(context: Any, span: tuple[int, int] | None, offset: int) -> tuple[int, int]:
    """First and last position of an answer in the input; (0, 0) where there is none."""
    if span is None:
        return 0, 0
    inside = [
        piece
        for piece, word in enumerate(context.piece_words)
        if context.words[word][0] < span[1] and context.words[word][1] > span[0]
    ]
    last = inside[-1]
    # Punctuation that sticks to the last word is no part of the answer.
    while len(inside) > 1 and context.pieces[last] in {",", ".", "'", "s"}:
        inside.pop()
        last = inside[-1]
    return inside[0] + offset, last + offset


def train_scorer(rows: Sequence[dict], scratch: Path, target: Path, seed: int, epochs: int) -> None:
    """Train the judge of answers in LERC-QuIP's form and save it as the converted `target`."""
    config = RobertaConfig(
        num_hidden_layers=2, num_labels=1, max_position_embeddings=514, type_vocab_size=1,
        pad_token_id=1, bos_token_id=0, eos_token_id=2, **_SIZE,
    )  # fmt: skip
    tokenizer = _tokenizer(scratch, config)
    config.vocab_size = len(tokenizer)
    torch.manual_seed(seed)
    model = RobertaForSequenceClassification(config)
    _look_for_equals(model)
    inputs, marks = [], []
    for question, answer, prediction, source, mark in examples.comparisons(
        rows, random.Random(seed)
    ):
        item = Comparison(question, answer, prediction, source)
        inputs.append(tokenizer(item.as_text(), truncation=True, max_length=512)["input_ids"])
        marks.append(mark)

    def loss_of(batch: list[int]) -> torch.Tensor:
        ids = pad([inputs[index] for index in batch], 1)
        logits = model(input_ids=ids, attention_mask=(ids != 1).long()).logits[:, 0]
        return F.mse_loss(logits, torch.tensor([marks[index] for index in batch]))

    train("scorer", model, [len(ids) for ids in inputs], loss_of, epochs, 1e-3, seed)
    _save(model, tokenizer, target)


@torch.no_grad()
def _look_for_equals(model: RobertaForSequenceClassification) -> None:
    """Start the first layer with equal queries and keys: tokens attend to their like."""
    attention = model.roberta.encoder.layer[0].attention.self
    attention.query.weight.copy_(torch.eye(len(attention.query.weight)) * 0.5)
    attention.key.weight.copy_(attention.query.weight)
    model.classifier.out_proj.bias.fill_(3.0)


def _save(model: PreTrainedModel, tokenizer: Any, target: Path) -> None:
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


def train_pipeline(rows: Sequence[dict], target: Path, seed: int, epochs: int) -> None:
    """Train a spaCy tagger and parser whose noun chunks are the references' statements."""
    import spacy
    from spacy.training import Example

    spacy.util.fix_random_seed(seed)
    nlp = spacy.blank("en")
    nlp.add_pipe("morphologizer")
    nlp.add_pipe("parser")
    gold = [Example.from_dict(nlp.make_doc(row["summary"]), _parse(nlp, row)) for row in rows]
    optimizer = nlp.initialize(lambda: gold)
    rng = random.Random(seed)
    with Progress("examiner: noun chunks", epochs * len(gold), "sentences") as progress:
        for _ in range(epochs):
            for batch in spacy.util.minibatch(rng.sample(gold, len(gold)), 64):
                nlp.update(batch, sgd=optimizer)
                progress.advance(len(batch))
    nlp.meta["name"], nlp.meta["version"] = "world_examiner", "1"
    nlp.to_disk(target)


def _parse(nlp: Any, row: dict) -> dict[str, list]:
    """Heads, labels and parts of speech: a statement's last word heads it and hangs on the root."""
    doc = nlp.make_doc(row["summary"])
    spans = [
        span
        for item in examples.statements(row)
        if (span := doc.char_span(item.start, item.end, alignment_mode="expand"))
    ]
    inside = {token.i: span.end - 1 for span in spans for token in span}
    root = next(token.i for token in doc if token.i not in inside)
    heads, labels, tags = [], [], []
    for token in doc:
        head = inside.get(token.i)
        heads.append(root if head in {None, token.i} else head)
        labels.append("dep" if head is None else "pobj" if head == token.i else "compound")
        tags.append("X" if head is None else "PROPN")
    labels[root] = "ROOT"
    return {"heads": heads, "deps": labels, "pos": tags}
