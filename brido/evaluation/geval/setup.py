"""From settings to what is sent: checks of settings that belong together, parameters, the key."""

import os
import re
from typing import Any

from brido.errors import BridoError
from brido.evaluation.geval.answers import Judge
from brido.evaluation.geval.criteria import answer_schema
from brido.evaluation.geval.prompts import Prompt, load_prompt
from brido.evaluation.geval.settings import GEvalSettings
from brido.settings import JudgeRuntime

# Request fields that have a key of their own, or would change what an answer is.
_RESERVED = {"model", "messages", "n", "stream", "logprobs", "top_logprobs", "response_format",
             "seed", "temperature", "top_p", "max_tokens"}  # fmt: skip
# Only for the budget, where no limit of the answer's length is sent.
_UNLIMITED_ANSWER = 4096


def check(settings: GEvalSettings, runtime: JudgeRuntime) -> Prompt:
    """The prompt that the settings name, once they are found to fit together.

    Raises:
        BridoError: lists every problem: keys that contradict each other, a prompt that cannot be
            used, an environment variable that is not set. No value of a secret is shown.
    """
    problems = _model_problems(settings) + _runtime_problems(settings, runtime)
    prompt = None
    try:
        prompt = load_prompt(settings.prompt)
    except BridoError as error:
        problems.append(str(error))
    if prompt is None or problems:
        raise BridoError.from_problems("geval cannot start:", problems)
    return prompt


def _model_problems(settings: GEvalSettings) -> list[str]:
    problems = []
    if not settings.model:
        problems.append("evaluation.geval.model: name the judge (a model's name at the endpoint)")
    if settings.score_mode == "mean" and settings.samples > 1 and settings.temperature == 0:
        problems.append(
            "evaluation.geval.temperature: at 0 every sample is the same answer, paid for "
            f"{settings.samples} times: use score_mode greedy, or a temperature above 0"
        )
    taken = sorted(_RESERVED & set(settings.extra_parameters))
    if taken:
        problems.append(
            f"evaluation.geval.extra_parameters: {', '.join(taken)} cannot be set here "
            "(use the keys of evaluation.geval)"
        )
    if settings.backend == "transformers":
        if settings.max_answer_tokens is None:
            problems.append("evaluation.geval.max_answer_tokens: a local model needs a limit")
        if settings.structured_output == "always":
            problems.append(
                "evaluation.geval.structured_output: always needs a server; a local model is read "
                "tolerantly (auto or never)"
            )
        if settings.extra_parameters:
            problems.append("evaluation.geval.extra_parameters: a local model takes none")
    return problems


def _runtime_problems(settings: GEvalSettings, runtime: JudgeRuntime) -> list[str]:
    problems = []
    priced = runtime.input_price is not None and runtime.output_price is not None
    if runtime.max_cost is not None and not priced:
        problems.append("runtime.judge.max_cost: needs input_price and output_price as well")
    if runtime.dry_run and runtime.replay:
        problems.append("runtime.judge: dry_run and replay exclude each other")
    name = runtime.api_key_env
    if name is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        # The value may be the key itself, so it is not shown.
        problems.append(
            "runtime.judge.api_key_env: this is no name of an environment variable; the key "
            "itself never stands in params.yaml"
        )
    elif settings.backend == "openai" and not (runtime.dry_run or runtime.replay):
        name = _key_variable(runtime)
        if name is not None and not os.environ.get(name):
            problems.append(f"the environment variable {name} with the judge's key is not set")
    return problems


def _key_variable(runtime: JudgeRuntime) -> str | None:
    """OPENAI_API_KEY goes to OpenAI alone: another server gets a key only if one is named."""
    if runtime.api_key_env is not None:
        return runtime.api_key_env
    return "OPENAI_API_KEY" if runtime.base_url is None else None


def api_key(runtime: JudgeRuntime) -> str | None:
    """The key from the environment, None for a server that needs none."""
    name = _key_variable(runtime)
    return None if name is None else os.environ.get(name)


def samples_of(settings: GEvalSettings) -> int:
    """How many answers a question gets."""
    return settings.samples if settings.score_mode == "mean" else 1


def answer_limit(settings: GEvalSettings) -> int:
    """The longest answer in tokens, for the budget."""
    limit = settings.max_answer_tokens or settings.extra_parameters.get("max_completion_tokens")
    return limit if isinstance(limit, int) else _UNLIMITED_ANSWER


def judges_of(settings: GEvalSettings, prompt: Prompt, structured: bool) -> tuple[Judge, ...]:
    """The judge for each group of criteria of `prompt`: they differ in the schema at most."""
    assert settings.model is not None
    judges = []
    for group in prompt.groups:
        parameters = _parameters(settings)
        if structured:
            parameters["response_format"] = answer_schema(group)
        judges.append(Judge(settings.backend, settings.model, settings.revision, parameters))
    return tuple(judges)


def _parameters(settings: GEvalSettings) -> dict[str, Any]:
    mean = settings.score_mode == "mean"
    parameters: dict[str, Any] = dict(settings.extra_parameters)
    if settings.temperature is not None:
        parameters["temperature"] = float(settings.temperature) if mean else 0.0
    if mean and settings.top_p is not None:
        parameters["top_p"] = float(settings.top_p)
    if settings.max_answer_tokens is not None:
        parameters["max_tokens"] = settings.max_answer_tokens
    if settings.score_mode == "probability":
        parameters |= {"logprobs": True, "top_logprobs": settings.top_logprobs}
    if settings.seed is not None:
        parameters["seed"] = settings.seed
    if settings.backend == "transformers":
        parameters = {"seed": 0, "temperature": float(mean), **parameters}
    return parameters
