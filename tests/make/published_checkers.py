"""What the repositories and archives of MiniCheck and QAFactEval hold, as far as it is known.

As published_checkpoints.py: nothing was downloaded; `seen` says which public text states a fact,
`taken` what follows from the program that wrote the files. The keys and the dtypes of the weights
stand in no public text that was found, and neither does the name of MiniCheck's file of weights.
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
    seen: str
    taken: str


_TOKENIZER = ("tokenizer_config.json", "special_tokens_map.json")
_WITH_TOKENIZER = ("config.json", "tokenizer.json", *_TOKENIZER)
_TRAINER = "save_pretrained of transformers 4.3x, float32"
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
        seen="Liyan06/MiniCheck's inference.py: lytang/MiniCheck-Flan-T5-Large by "
        "AutoModelForSeq2SeqLM, tokens 3 and 209, 2,048 tokens; the card: tuned from "
        "google/flan-t5-large; FamiliarTools' export of it to ONNX names the files; copies of "
        "flan-t5-large's config.json say that embeddings are not tied, and 32,128 entries",
        taken=f"{_TRAINER}: as safetensors without the copies of `shared`, pickled with them; "
        "Flan-T5's own prefixes in task_specific_params",
    ),
    "roberta": PublishedChecker(
        files=_WITH_TOKENIZER,
        weights=_BOTH,
        extra=("roberta.embeddings.position_ids",),
        config=_CLASSIFIER,
        tokenizer={"model_max_length": 512, "trim_offsets": True, **_ELSEWHERE},
        seen="Liyan06/MiniCheck's inference.py: lytang/MiniCheck-RoBERTa-Large by "
        "AutoModelForSequenceClassification with two labels, 512 tokens, </s> between chunk and "
        "claim; the card: tuned from AlignScore's RoBERTa",
        taken=f"{_TRAINER}; position_ids from before 4.31",
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
        seen="Liyan06/MiniCheck's inference.py: lytang/MiniCheck-DeBERTa-v3-Large as RoBERTa's, "
        "2,048 tokens",
        taken=f"{_TRAINER}; DeBERTa-v3's own settings; its sentencepiece file is not imitated",
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
        seen="danieldeutsch/qaeval: the model registers BartForConditionalGeneration as `bart`, "
        "from facebook/bart-large with two more entries; requirements: torch 1.6, transformers "
        "3.0.2, allennlp 1.1",
        taken="AllenNLP's archive of config.json, weights.th and vocabulary/; transformers 3.0.2 "
        "had no lm_head, and its embeddings stay tied when they grow",
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
        seen="salesforce/QAFactEval's download_models.sh: model.zip; qaeval's answering: an "
        "electra with do_lower_case; another project checks for config.json, pytorch_model.bin "
        "and vocab.txt",
        taken="run_squad.py of transformers 2 or 3; ELECTRA-large's embeddings are as wide as its "
        "layers, so no embeddings_project",
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
        seen="salesforce/QAFactEval's lerc_quip.py: AutoModelForSequenceClassification, one label, "
        "512 tokens; another project checks for config.json, pytorch_model.bin, vocab.json and "
        "merges.txt",
        taken="RoBERTa-large's layout of transformers 3 and 4",
    ),
}
