"""Tokenizers learned from a corpus, saved and loaded like any other of Hugging Face's.

`word` keeps every word, and the punctuation after it, as a token: with the embedded world's closed
vocabulary, copying a name means choosing one token. `bpe` is byte-level BPE, which has no unknown
words, for real text.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

# BART's order, so that bos, pad and eos have BART's ids 0, 1 and 2.
SPECIAL_TOKENS = ["<s>", "<pad>", "</s>", "<unk>"]
BOS, PAD, EOS = range(3)


def learn_tokenizer(
    texts: Iterable[str], kind: Literal["word", "bpe"], vocabulary_size: int
) -> str:
    """A tokenizer with at most `vocabulary_size` tokens, learned from `texts`, as JSON.

    It writes `<s> text </s>` and decodes to the text it was given, provided that words are
    separated by single spaces and (`word`) all known.
    """
    tokenizer, trainer = _word(vocabulary_size) if kind == "word" else _bpe(vocabulary_size)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", BOS), ("</s>", EOS)],
    )
    return tokenizer.to_str()


def tokenizer_of(learned: str, max_tokens: int) -> "PreTrainedTokenizerFast":
    """The tokenizer that `learn_tokenizer` wrote; told to truncate, it cuts to `max_tokens`."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(learned),
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        cls_token="<s>",
        sep_token="</s>",
        model_max_length=max_tokens,
        clean_up_tokenization_spaces=False,
    )


def _word(vocabulary_size: int) -> tuple[Tokenizer, Any]:
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    # Metaspace marks the start of a word, so that "." after a word and a "." that stands alone
    # differ and decoding puts every space back.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(),
            pre_tokenizers.Split(Regex(r"""[.,;:!?"')\]]+$"""), behavior="isolated"),
        ]
    )
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.WordLevelTrainer(
        vocab_size=vocabulary_size, special_tokens=SPECIAL_TOKENS, show_progress=False
    )
    return tokenizer, trainer


def _bpe(vocabulary_size: int) -> tuple[Tokenizer, Any]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    return tokenizer, trainer
