"""What the repositories and archives of MiniCheck and QAFactEval hold, as far as it is known.

Nothing was downloaded. MiniCheck: Liyan06/MiniCheck's inference.py and cards. QAFactEval:
salesforce/QAFactEval's and danieldeutsch/qaeval's code; AllenNLP's archive for questions,
transformers 3's for the others. What stands in no public text follows from the program that wrote
the files.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PublishedChecker:
    """A repository or an archive.

    files: what it holds beside the weights. weights: the names that the file of weights may have.
    extra: tensors that the file may hold, though the model of today has none of that name. config:
    settings of its config.json that a tiny model has not by itself. tokenizer: keys of its
    tokenizer_config.json.
    """

    files: tuple[str, ...]
    weights: tuple[str, ...]
    extra: tuple[str, ...]
    config: dict[str, Any]
    tokenizer: dict[str, Any]


_TOKENIZER = ("tokenizer_config.json", "special_tokens_map.json")
_WITH_TOKENIZER = ("config.json", "tokenizer.json", *_TOKENIZER)
_BOTH = ("model.safetensors", "pytorch_model.bin")
# Written where it was trained, and read on another machine.
_ELSEWHERE = {
    "special_tokens_map_file": "/home/author/model/special_tokens_map.json",
    "tokenizer_file": None,
    "name_or_path": "/home/author/model",
}
# Of RoBERTa and DeBERTa, which classify a chunk and a claim.
_CLASSIFIER = {
    "finetuning_task": "text-classification",
    "torch_dtype": "float32",
    "problem_type": "single_label_classification",
}
_TASKS = {"summarization": {"prefix": "summarize: ", "num_beams": 4}}

MINICHECK = {
    "t5": PublishedChecker(
        files=(*_WITH_TOKENIZER, "generation_config.json"),
        weights=_BOTH,
        extra=("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"),
        config={
            "tie_word_embeddings": False,
            "n_positions": 512,
            "output_past": True,
            "task_specific_params": _TASKS,
            "torch_dtype": "float32",
        },
        tokenizer={"extra_ids": 100, "model_max_length": 512, "legacy": True, **_ELSEWHERE},
    ),
    "roberta": PublishedChecker(
        files=_WITH_TOKENIZER,
        weights=_BOTH,
        extra=("roberta.embeddings.position_ids",),
        config=_CLASSIFIER,
        tokenizer={"model_max_length": 512, "trim_offsets": True, **_ELSEWHERE},
    ),
    "deberta": PublishedChecker(
        files=(*_WITH_TOKENIZER, "added_tokens.json"),
        weights=_BOTH,
        extra=("deberta.embeddings.position_ids",),
        config={
            **_CLASSIFIER,
            "position_buckets": 256,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
        },
        tokenizer={
            "do_lower_case": False,
            "split_by_punct": False,
            "vocab_type": "spm",
            **_ELSEWHERE,
        },
    ),
}

QAFACTEVAL = {
    "questions": PublishedChecker(
        files=(
            "config.json",
            "vocabulary/tokens.txt",
            "vocabulary/non_padded_namespaces.txt",
            "vocabulary/.lock",
        ),
        weights=("weights.th",),
        extra=(),
        config={"model": {"type": "question_generation", "model_name": "facebook/bart-large"}},
        tokenizer={},
    ),
    "answering": PublishedChecker(
        files=("config.json", "vocab.txt", *_TOKENIZER, "training_args.bin"),
        weights=("pytorch_model.bin",),
        extra=("electra.embeddings.position_ids",),
        config={"model_type": "electra", "summary_type": "first", "summary_use_proj": True},
        tokenizer={
            "do_lower_case": True,
            "max_len": 512,
            "full_tokenizer_file": None,
            **_ELSEWHERE,
        },
    ),
    "lerc_quip": PublishedChecker(
        files=("config.json", "vocab.json", "merges.txt", *_TOKENIZER),
        weights=("pytorch_model.bin",),
        extra=(
            "roberta.embeddings.position_ids",
            "roberta.pooler.dense.weight",
            "roberta.pooler.dense.bias",
        ),
        config={"gradient_checkpointing": False, "problem_type": "regression"},
        tokenizer={"add_prefix_space": False, "errors": "replace", **_ELSEWHERE},
    ),
}
