"""Render a chat template: the process that `brido.models.rendering` starts, within its limits.

It reads one JSON object from stdin and writes one to stdout. It loads nothing but Jinja, so that it
starts at once. Its environment is that of `transformers.utils.chat_template_utils`; a test compares
what both write.
"""

import contextlib
import json
import sys
from datetime import datetime
from typing import Any


def main() -> None:
    """Answer {"texts": [...]}, or {"error": KIND, "message": ...} for what a template raises."""
    request = json.load(sys.stdin)
    # The limits hold for compiling too: Jinja computes constants there.
    sys.path[:] = request["path"]
    environment = make_environment()
    limit(request["seconds"], request["bytes"])
    answer: dict[str, Any]
    try:
        template = environment.from_string(request["template"])
        texts = [template.render(**values) for values in request["contexts"]]
        answer = {"texts": texts}
        if sum(map(len, texts)) > request["characters"]:
            answer = {"error": "ValueError", "message": "it writes too long a text"}
    except Exception as error:  # a stranger's template may raise any
        answer = {"error": type(error).__name__, "message": str(error)[:10_000]}
    json.dump(answer, sys.stdout)


def limit(seconds: int, size: int) -> None:
    """Let this process have no more seconds of a processor, bytes of memory, and no file."""
    with contextlib.suppress(ImportError):  # Windows: the parent's clock alone
        import resource

        limits = [
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_AS, size),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ]
        for kind, value in limits:
            with contextlib.suppress(ValueError, OSError):  # not on every system
                resource.setrlimit(kind, (value, value))


def make_environment() -> Any:
    """Return the environment in which transformers renders chat templates."""
    from jinja2 import TemplateError, ext, nodes, pass_eval_context
    from jinja2.exceptions import SecurityError
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from jinja2.utils import Namespace

    class Generation(ext.Extension):
        """{% generation %} around what a model writes: its content, in a scope of its own."""

        tags = {"generation"}  # noqa: RUF012 - as Jinja declares it

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.CallBlock(self.call_method("_whole"), [], [], body).set_lineno(line)

        @pass_eval_context
        def _whole(self, context: Any, caller: Any) -> Any:
            return caller()

    class Dictionary:
        """`dict` without Python's class behind it."""

        def __call__(self, *values: Any, **named: Any) -> dict[Any, Any]:
            return dict(*values, **named)

        def fromkeys(self, *values: Any) -> dict[Any, Any]:
            return dict.fromkeys(*values)

    class PlainNamespace(Namespace):
        """`namespace` without names that Python keeps for itself."""

        def __init__(self, /, *values: Any, **named: Any) -> None:
            given = dict(*values, **named)
            for name in given:
                PlainNamespace._check(name)
            super().__init__(given)

        def __setitem__(self, name: str, value: Any) -> None:
            PlainNamespace._check(name)
            super().__setitem__(name, value)

        @staticmethod
        def _check(name: Any) -> None:
            if isinstance(name, str) and name.startswith("_"):
                raise SecurityError(f"a namespace cannot hold {name!r}")

    def refuse(message: str) -> None:
        raise TemplateError(message)

    def as_json(
        value: Any,
        ensure_ascii: bool = False,
        indent: Any = None,
        separators: Any = None,
        sort_keys: bool = False,
    ) -> str:
        return json.dumps(
            value,
            ensure_ascii=ensure_ascii,
            indent=indent,
            separators=separators,
            sort_keys=sort_keys,
        )

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, ext.loopcontrols]
    )
    environment.filters["tojson"] = as_json
    environment.globals.update(
        raise_exception=refuse,
        # One that writes today's date would ask another question every day.
        strftime_now=datetime(2025, 1, 1).strftime,
        dict=Dictionary(),
        namespace=PlainNamespace,
    )
    return environment


if __name__ == "__main__":
    main()
