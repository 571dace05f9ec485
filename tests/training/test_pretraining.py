"""Training from scratch: tokenizers that give texts back, a model that starts out copying, and a
checkpoint like any other."""

import random

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

from brido.corpus.settings import WorldSettings
from brido.models.embedded import EOS, PAD, build_model, learn_tokenizer, tokenizer_of
from brido.models.settings import EmbeddedSettings
from brido.models.tokens import padded
from brido.training.pretraining import encode, epoch_batches, train_embedded
from brido.work.settings import RuntimeSettings
from brido.world import documents

SMALL = EmbeddedSettings(
    d_model=32, ffn_dim=32, attention_heads=2, encoder_layers=1, epochs=2, batch_size=8,
    learning_rate=5e-3, vocabulary_size=3000, max_source_tokens=128, max_summary_tokens=48,
)  # fmt: skip


@pytest.fixture(scope="module")
def pairs():
    return [(row["document"], row["summary"]) for row in documents(WorldSettings(), "train", 240)]


def run(pairs, folder, settings=SMALL):
    """Train into `folder`/model with work in `folder`/work."""
    (folder / "model").mkdir(parents=True)
    work, runtime = folder / "work" / "run", RuntimeSettings(device="cpu")
    return train_embedded("base", pairs, settings, runtime, work, folder / "model")


def train_tokenizer(pairs, kind, size, longest):
    texts = (text for pair in pairs for text in pair)
    return tokenizer_of(learn_tokenizer(texts, kind, size), longest)


def plain_loop(pairs, settings):
    """The same training as anybody would write it, from the first epoch to the last."""
    sizes = settings.vocabulary_size, settings.max_source_tokens
    tokenizer = train_tokenizer(pairs, settings.tokenizer, *sizes)
    torch.manual_seed(settings.seed)
    model = build_model(settings, tokenizer).train()
    examples = encode(model, tokenizer, pairs, settings)
    steps = settings.epochs * -(-len(examples) // settings.batch_size)
    warmup = max(1, round(0.05 * steps))
    optimizer = torch.optim.AdamW(model.parameters(), settings.learning_rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, max(0.0, 1 - step / steps))
    )
    generator = random.Random(settings.seed)
    for _ in range(settings.epochs):
        lengths = [len(source) for source, _ in examples]
        for batch in epoch_batches(lengths, settings.batch_size, generator):
            sources = padded([examples[index][0] for index in batch], PAD)
            labels = padded([examples[index][1] for index in batch], PAD)
            start = torch.full_like(labels[:, :1], EOS)
            logits = model(
                input_ids=sources,
                attention_mask=(sources != PAD).long(),
                decoder_input_ids=torch.cat([start, labels[:, :-1]], dim=1),
                use_cache=False,
            ).logits
            loss = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), labels.flatten(), ignore_index=PAD,
                label_smoothing=settings.label_smoothing,
            )  # fmt: skip
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    return model.state_dict()


def test_it_is_what_a_plain_loop_trains_bit_for_bit(pairs, tmp_path):
    few = pairs[:75]
    run(few, tmp_path)
    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "model", dtype=torch.float32)
    expected = plain_loop(few, SMALL)
    for name, value in model.state_dict().items():
        assert torch.equal(value, expected[name]), name


def test_an_epoch_has_every_example_once():
    lengths = [index % 7 + 1 for index in range(101)]
    batches = epoch_batches(lengths, 8, random.Random(0))
    assert sorted(index for batch in batches for index in batch) == list(range(101))
    assert max(map(len, batches)) == 8
