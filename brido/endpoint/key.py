"""The key of an endpoint: where it comes from, and settings that cannot work."""

import os
import re

from brido.endpoint.settings import EndpointRuntime


def runtime_problems(runtime: EndpointRuntime) -> list[str]:
    """What contradicts itself in `runtime.endpoint`, whoever is asked."""
    problems = []
    priced = runtime.input_price is not None and runtime.output_price is not None
    if runtime.max_cost is not None and not priced:
        problems.append("runtime.endpoint.max_cost: needs input_price and output_price as well")
    if runtime.dry_run and runtime.replay:
        problems.append("runtime.endpoint: dry_run and replay exclude each other")
    if runtime.api_key_env is not None and not _is_name(runtime.api_key_env):
        # The value may be the key itself, so it is not shown.
        problems.append(
            "runtime.endpoint.api_key_env: this is no name of an environment variable; the key "
            "itself never stands in params.yaml"
        )
    return problems


def key_problems(runtime: EndpointRuntime) -> list[str]:
    """What keeps a server from being asked with a key; no value of a secret is shown."""
    name = _key_variable(runtime)
    if runtime.dry_run or runtime.replay or name is None or not _is_name(name):
        return []
    key = os.environ.get(name)
    if not key:
        return [f"the environment variable {name} with the server's key is not set"]
    if not re.fullmatch(r"[!-~]+", key):
        return [
            f"the environment variable {name} holds no key: there is a line break, a space or a "
            "character outside ASCII in it"
        ]
    return []


def api_key(runtime: EndpointRuntime) -> str | None:
    """The key from the environment, None for a server that needs none."""
    name = _key_variable(runtime)
    return None if name is None else os.environ.get(name)


def _key_variable(runtime: EndpointRuntime) -> str | None:
    """OPENAI_API_KEY goes to OpenAI alone: another server gets a key only if one is named."""
    if runtime.api_key_env is not None:
        return runtime.api_key_env
    return "OPENAI_API_KEY" if runtime.base_url is None else None


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) is not None
