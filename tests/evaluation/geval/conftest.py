"""A tiny instruct model with tokenizer and chat template, taught to mark in a few seconds."""

import json

import pytest

from brido.endpoint.settings import EndpointRuntime
from brido.evaluation.geval import GEval
from brido.evaluation.geval.settings import GEvalSettings

# What the model was taught to answer, and how often: the marks of each and their share.
TAUGHT = {
    '{"coherence": 4, "consistency": 5, "fluency": 3, "relevance": 2}': 3,
    '{"coherence": 2, "consistency": 5, "fluency": 3, "relevance": 2}': 1,
}
PROMPT = "Source: {{ document }}\nSummary: {{ summary }}\nMarks:"
TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
WORDS = ["bridge", "river", "mayor", "opened", "closed", "in", "1994", "the", "old", "new"]


def _tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers
    from tokenizers.decoders import ByteLevel
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "<|end|>", "<|user|>", "<|system|>", "<|assistant|>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate([*special, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<|end|>",
        additional_special_tokens=special[2:],
    )
    # The form in few tokens, so that it is learnt in few steps; marks are tokens of their own.
    fast.add_tokens(['{"coherence": ', ', "consistency": ', ', "fluency": ', ', "relevance": '])
    fast.chat_template = TEMPLATE
    return fast


def _teach(model, tokenizer):
    """Teach the answers after any prompt: 98 % of what it then samples is one of them."""
    import random

    import torch

    draw = random.Random(0)
    answers = [answer for answer, share in TAUGHT.items() for _ in range(share)]
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(150):
        texts, lengths = [], []
        for index in range(4):
            words = " ".join(draw.choices(WORDS, k=draw.randint(1, 6)))
            head = f"<|user|>Source: {words}\nSummary: {words}\nMarks:<|end|><|assistant|>"
            texts.append(head + answers[(step + index) % len(answers)] + "<|end|>")
            lengths.append(len(tokenizer(head)["input_ids"]))
        batch = tokenizer(texts, return_tensors="pt", padding=True, padding_side="right")
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        for row, length in enumerate(lengths):
            labels[row, :length] = -100
        model(**batch, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


@pytest.fixture(scope="session")
def instruct_model(tmp_path_factory):
    """The folder of a tiny Llama in `save_pretrained` format."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = _tokenizer()
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    sizes |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512}
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        **sizes,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = LlamaForCausalLM(config)
    _teach(model, tokenizer)
    folder = tmp_path_factory.mktemp("instruct")
    model.generation_config.temperature = 0.3
    model.generation_config.do_sample = True
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    torch.set_num_threads(threads)
    return folder


@pytest.fixture(scope="session")
def short_prompt(tmp_path_factory):
    """A prompt file that the tiny model was taught."""
    path = tmp_path_factory.mktemp("prompt") / "short.jinja"
    path.write_text(PROMPT)
    return str(path)


@pytest.fixture(scope="session")
def taught_marks():
    """The marks that the model gives most often."""
    return json.loads(next(iter(TAUGHT)))


@pytest.fixture
def judge(tmp_path, monkeypatch):
    """A function that makes a judge for a server; the store is the same throughout a test."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def make(server=None, runtime=None, **settings):
        where = {"base_url": server.url} if server else {}
        always = {"store": str(tmp_path / "answers.sqlite"), "timeout_seconds": 5.0, **where}
        chosen = {"model": "judge", "score_mode": "greedy", **settings}
        return GEval(GEvalSettings(**chosen), EndpointRuntime(**{**always, **(runtime or {})}))

    return make
