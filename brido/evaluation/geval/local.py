"""A local instruct model that answers as a server would, through transformers, in batches.

Every answer depends on its own question, sample number and seed alone, not on its batch: a token is
drawn by adding Gumbel noise to the log-probabilities and taking the largest (an exact draw from the
softmax), and the noise comes from a generator of that answer's own.
"""

import hashlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
)

from brido.endpoint import Answer, Ledger, Question, Token
from brido.evaluation.geval.probabilities import may_be_a_mark
from brido.models.loading import pretrained
from brido.utils.errors import BridoError

Item = tuple[Question, int]  # a question and a sample number


class LocalModel:
    """A causal language model with a chat template, loaded once: a `brido.endpoint.Respondent`."""

    def __init__(self, name: str, revision: str | None, device: str, batch_size: int) -> None:
        """Load `name` (hub id or folder) in the precision of its checkpoint.

        Raises:
            BridoError: the model cannot be loaded or its tokenizer has no chat template.
        """
        self._batch_size = batch_size
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self._device = torch.device(device)
        try:
            self._tokenizer = pretrained(
                AutoTokenizer, name, revision=revision, padding_side="left"
            )
            self._model = pretrained(AutoModelForCausalLM, name, revision=revision, dtype="auto")
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise BridoError(
                f"evaluation.geval.model: {name} cannot be loaded ({reason})"
            ) from None
        if self._tokenizer.chat_template is None:
            raise BridoError(
                f"evaluation.geval.model: {name} has no chat template, so it is no instruct "
                "model: choose one that is"
            )
        self._tokenizer.pad_token = self._tokenizer.pad_token or self._tokenizer.eos_token
        self._model.to(self._device).eval()
        self._ends = self._neutral_generation()
        commit = getattr(self._model.config, "_commit_hash", None)
        self.served_model = f"{name}@{commit}" if commit else name

    def _neutral_generation(self) -> set[int]:
        """Make generation greedy and nothing else; returns the tokens that end an answer.

        A checkpoint's own habits (sampling, repetition penalty) are not asked for, and `generate`
        takes over whatever of them a call does not set.
        """
        end = self._model.generation_config.eos_token_id
        if end is None:
            end = self._tokenizer.eos_token_id
        self._model.generation_config = GenerationConfig(
            do_sample=False, eos_token_id=end, pad_token_id=self._tokenizer.pad_token_id
        )
        return set(end if isinstance(end, list) else [end])

    def answer(self, items: Sequence[Item]) -> list[Answer | None]:
        """The answers to (question, sample) pairs, generated together, in order.

        None stands where prompt and answer do not fit the model's positions.
        """
        limit = _parameters(items)["max_tokens"]
        room = getattr(self._model.config, "max_position_embeddings", None) or sys.maxsize
        prompts = [self._prompt(question) for question, _ in items]
        fitting = [index for index, ids in enumerate(prompts) if len(ids) + limit <= room]
        answers: list[Answer | None] = [None] * len(items)
        if fitting:
            chosen = [items[index] for index in fitting]
            generated = self._generate(chosen, [prompts[index] for index in fitting], limit)
            for index, answer in zip(fitting, generated, strict=True):
                answers[index] = answer
        return answers

    def ask(self, questions: Iterable[Question], ledger: Ledger) -> None:
        """Answer every sample of all questions, which share their parameters, batch by batch."""
        items = ((question, sample) for question in questions for sample in question.samples)
        while batch := tuple(islice(items, self._batch_size)):
            rows = []
            for (question, sample), answer in zip(batch, self.answer(batch), strict=True):
                ledger.report.calls += 1
                if answer is None:
                    ledger.report.given_up += 1
                    ledger.report.trouble["prompt too long for the model"] += 1
                else:
                    rows += ledger.received(replace(question, samples=[sample]), [answer])
            ledger.store.append(rows)
            ledger.advance(len(batch))

    def _prompt(self, question: Question) -> list[int]:
        text = self._tokenizer.apply_chat_template(
            [dict(message) for message in question.messages],
            add_generation_prompt=True,
            tokenize=False,
        )
        # The template writes its own special tokens.
        return self._tokenizer(text, add_special_tokens=False)["input_ids"]

    def _generate(
        self, items: Sequence[Item], prompts: list[list[int]], limit: int
    ) -> list[Answer]:
        inputs = self._tokenizer.pad({"input_ids": prompts}, return_tensors="pt")
        parameters = _parameters(items)
        draw = _Draw(parameters, [(question.key, sample) for question, sample in items])
        with torch.inference_mode():
            output = self._model.generate(
                **inputs.to(self._device),
                max_new_tokens=limit,
                logits_processor=LogitsProcessorList([draw]),
            )
        written = output[:, inputs["input_ids"].shape[1] :].tolist()
        return [
            self._answer(ids, len(prompt), [step[row] for step in draw.steps], parameters)
            for row, (ids, prompt) in enumerate(zip(written, prompts, strict=True))
        ]

    def _answer(
        self,
        ids: list[int],
        prompt_tokens: int,
        steps: list[list[tuple[int, float]]],
        parameters: Mapping[str, Any],
    ) -> Answer:
        stop = next((index for index, token in enumerate(ids) if token in self._ends), None)
        kept = ids if stop is None else ids[:stop]
        text = self._tokenizer.decode(kept, skip_special_tokens=True)
        tokens = self._tokens(kept, steps) if parameters.get("logprobs") else None
        reason = "length" if stop is None else "stop"
        paid = len(kept) + (stop is not None)
        return Answer(text, reason, False, self.served_model, prompt_tokens, paid, tokens)

    def _tokens(self, kept: list[int], steps: list[list[tuple[int, float]]]) -> list[Token]:
        decode = self._tokenizer.decode
        tokens: list[Token] = []
        for token, step in zip(kept, steps, strict=False):
            text = decode([token])
            alternatives = None
            if may_be_a_mark(text):
                alternatives = [(decode([other]), value) for other, value in step]
            tokens.append((text, alternatives))
        return tokens


def _parameters(items: Sequence[Item]) -> Mapping[str, Any]:
    """What all questions of one run share."""
    return items[0][0].model.parameters


class _Draw(LogitsProcessor):
    """Turns the greedy search's argmax into a draw, and keeps the likeliest tokens of each step."""

    def __init__(self, parameters: Mapping[str, Any], names: Sequence[tuple[str, int]]) -> None:
        self._temperature = parameters["temperature"] or 0.0
        self._top_p = parameters.get("top_p") or 1.0
        self._top = parameters.get("top_logprobs", 0) if parameters.get("logprobs") else 0
        self._generators = []
        for key, sample in names:
            name = f"{parameters['seed']} {key} {sample}"
            seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> 1
            self._generators.append(torch.Generator().manual_seed(seed))
        self.steps: list[list[list[tuple[int, float]]]] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        scores = scores.float()
        self.steps.append(self._likeliest(scores))
        if self._temperature == 0.0:
            return scores
        scores = _nucleus(torch.log_softmax(scores / self._temperature, -1), self._top_p)
        noise = [
            torch.empty(scores.shape[1]).exponential_(generator=generator)
            for generator in self._generators
        ]
        return scores - torch.stack(noise).log().to(scores.device)

    def _likeliest(self, scores: torch.Tensor) -> list[list[tuple[int, float]]]:
        if not self._top:
            return [[] for _ in range(len(scores))]
        values, indices = torch.log_softmax(scores, -1).topk(min(self._top, scores.shape[1]))
        return [
            list(zip(row_indices, row_values, strict=True))
            for row_indices, row_values in zip(indices.tolist(), values.tolist(), strict=True)
        ]


def _nucleus(log_probabilities: torch.Tensor, top_p: float) -> torch.Tensor:
    """All but the smallest set of tokens with probability `top_p` set to -inf."""
    if top_p >= 1.0:
        return log_probabilities
    ordered, indices = log_probabilities.sort(descending=True)
    before = ordered.exp().cumsum(-1) - ordered.exp()
    ordered = ordered.masked_fill(before >= top_p, float("-inf"))
    return torch.full_like(log_probabilities, float("-inf")).scatter(1, indices, ordered)
