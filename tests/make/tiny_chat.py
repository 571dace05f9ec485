"""A tiny random Llama with a byte-level tokenizer, and the kinds of chat templates there are."""

import torch
import transformers
from tokenizers import (
    AddedToken,
    SentencePieceBPETokenizer,
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
    processors,
)

SPECIAL = ["<|pad|>", "<s>", "<|end|>", "<|start|>", "<|endoftext|>"]
PAD, BOS, END, START, TEXT_END = range(5)
WORDS = ["the", "Ġthe", "Ġcat", "Ġsat", "in", "Ġin"]
CHATML = (
    "{% for message in messages %}<|start|>{{ message.role }}\n{{ message.content }}<|end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
# As Gemma's: begins with its own first token, trims, and refuses a system message.
NO_SYSTEM = (
    "{{ bos_token }}{% if messages[0].role == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for message in messages %}<|start|>{{ message.role }}\n{{ message.content | trim }}"
    "<|end|>\n{% endfor %}{% if add_generation_prompt %}<|start|>model\n{% endif %}"
)
# As Qwen 3's: an empty thought before every answer, or in the prompt where it is switched off.
THINKING = (
    "{% for message in messages %}<|start|>{{ message.role }}\n"
    "{% if message.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}"
    "{{ message.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n"
    "{% endif %}{% endif %}"
)
# As TinyLlama's and Zephyr's; as Llama 2's and Mistral's, with a space in front of an answer.
LINES = (
    "{% for message in messages %}<|{{ message.role }}|>\n{{ message.content }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
INST = (
    "{{ bos_token }}{% for message in messages %}{% if message.role == 'user' %}[INST] "
    "{{ message.content }} [/INST]{% else %} {{ message.content }}</s>{% endif %}{% endfor %}"
)
DATED = "{{ strftime_now('%d %B %Y') }} " + CHATML


def chat_tokenizer(template: str | None = CHATML) -> transformers.PreTrainedTokenizerFast:
    """Bytes, a few merges, control tokens; writes `<s>` in front of a text on its own."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges, vocabulary = [], {token: n for n, token in enumerate([*SPECIAL, *alphabet])}
    for word in WORDS:
        for end in range(2, len(word) + 1):
            pair = word[: end - 1], word[end - 1]
            if pair not in merges:
                merges.append(pair)
            vocabulary.setdefault(word[:end], len(vocabulary))
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", BOS)]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="<s>",
        eos_token="<|endoftext|>",
        pad_token="<|pad|>",
        additional_special_tokens=["<|end|>", "<|start|>"],
    )
    # Such tokens are no special ones in published tokenizers either.
    tokenizer.add_tokens([AddedToken("<think>"), AddedToken("</think>")])
    tokenizer.chat_template = template
    return tokenizer


def sentencepiece_tokenizer(template: str | None) -> transformers.PreTrainedTokenizerFast:
    """As Llama 2's: sentencepiece, which puts a space in front of every text."""
    backend = SentencePieceBPETokenizer()
    texts = [*map(chr, range(33, 127)), "the cat sat in the café", "the cat"]
    special = ["<unk>", "<s>", "</s>"]
    backend.train_from_iterator(texts, special_tokens=special, min_frequency=1, show_progress=False)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend._tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    tokenizer.chat_template = template
    return tokenizer


def tiny_llama(seed: int = 0, **changes: object) -> transformers.LlamaForCausalLM:
    """A random Llama for the tokenizer above, which ends with either of two tokens."""
    torch.manual_seed(seed)
    shape = {
        "vocab_size": len(chat_tokenizer()),
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
        "bos_token_id": BOS,
        "eos_token_id": [END, TEXT_END],
        "pad_token_id": None,
        "initializer_range": 0.2,
    }
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**{**shape, **changes}))
    return model.eval()
