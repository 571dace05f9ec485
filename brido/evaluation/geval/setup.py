"""From settings to what is sent: checks of settings that belong together, and parameters."""

from typing import Any

from brido.endpoint import AskedModel
from brido.endpoint.key import runtime_problems
from brido.endpoint.settings import EndpointRuntime
from brido.evaluation.geval.backends import BACKENDS, Backend
from brido.evaluation.geval.criteria import answer_schema
from brido.evaluation.geval.prompts import Prompt, load_prompt
from brido.evaluation.geval.settings import GEvalSettings
from brido.utils.errors import BridoError

# Request fields that have a key of their own, or would change what an answer is.
_RESERVED = {"model", "messages", "n", "stream", "logprobs", "top_logprobs", "response_format",
             "seed", "temperature", "top_p", "max_tokens"}  # fmt: skip
# Only for the budget, where no limit of the answer's length is sent.
_UNLIMITED_ANSWER = 4096


def check(settings: GEvalSettings, runtime: EndpointRuntime, device: str) -> tuple[Prompt, Backend]:
    """The prompt and the backend that the settings name, once they are found to fit together.

    Raises:
        BridoError: lists every problem: keys that contradict each other, a prompt that cannot be
            used, an environment variable that is not set. No value of a secret is shown.
    """
    backend = BACKENDS[settings.backend](settings, runtime, device)
    problems = _problems(settings) + runtime_problems(runtime) + backend.problems()
    prompt = None
    try:
        prompt = load_prompt(settings.prompt)
    except BridoError as error:
        problems.append(str(error))
    if prompt is None or problems:
        raise BridoError.from_problems("geval cannot start:", problems)
    return prompt, backend


def _problems(settings: GEvalSettings) -> list[str]:
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
    return problems


def samples_of(settings: GEvalSettings) -> int:
    """How many answers a question gets."""
    return settings.samples if settings.score_mode == "mean" else 1


def answer_limit(settings: GEvalSettings) -> int:
    """The longest answer in tokens, for the budget."""
    limit = settings.max_answer_tokens or settings.extra_parameters.get("max_completion_tokens")
    return limit if isinstance(limit, int) else _UNLIMITED_ANSWER


def judges_of(
    settings: GEvalSettings, prompt: Prompt, backend: Backend, structured: bool
) -> tuple[AskedModel, ...]:
    """The judge for each group of criteria of `prompt`: they differ in the schema at most."""
    assert settings.model is not None
    judges = []
    for group in prompt.groups:
        parameters = backend.parameters(_parameters(settings))
        if structured:
            parameters["response_format"] = answer_schema(group)
        judge = AskedModel(settings.backend, settings.model, settings.revision, parameters)
        judges.append(judge)
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
    return parameters
