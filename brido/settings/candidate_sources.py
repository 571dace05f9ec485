"""What the sources of candidates and the pool demand of the other sections."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from brido.candidates.settings import AskedSettings, EndpointGeneration
from brido.settings.sections import Sections
from brido.summarizer.settings import AskedSystem
from brido.utils.errors import quoted


def no_key(key: str, name: str, section: str, known: Sequence[str]) -> str:
    """The sentence about a key that names something which `section` does not have."""
    return f"{key}: {quoted(name)} is not a key of {section}; known here: {', '.join(known)}"


def bad_names(section: str, names: Iterable[str], taken: Sequence[str] = ()) -> Iterator[str]:
    """What is wrong with names that become folders; taken: names that are in use already."""
    known = {name.lower() for name in taken}  # folders, and some disks ignore capitals
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9_]{1,64}", name):
            yield f"{section}: {quoted(name)} must consist of 1 to 64 letters, digits and _ only"
        if name.lower() in known:
            what = "because it is taken, in capitals or not"
            yield f"{section}: `{name}` cannot be a name here, {what}: choose another"
        known.add(name.lower())


def source_problems(params: Sections) -> Iterator[str]:
    """What is wrong with section generation."""
    yield from bad_names("generation", params.generation)
    known = list(params.checkpoints)
    for name, source in params.generation.items():
        asked = source.checkpoint
        if isinstance(source, EndpointGeneration):
            yield from _endpoint(params, name, source)
        elif source.method != "files" and asked not in known:
            yield no_key(f"generation.{name}.checkpoint", asked, "checkpoints", known)
        lacks = source.method == "files" and source.files.test is None
        if lacks and "test" in params.documents.splits:
            yield (
                f"generation.{name}.files.test: name a file, or set documents.test to 0 and "
                "remove the system elected"
            )
    yield from _equal_questions(params)
    if params.num_candidates < 2:
        yield "generation: num_candidates must be at least 2 over all sources"


def pool_problems(params: Sections) -> Iterator[str]:
    """What is wrong with section pool."""
    sources = list(params.generation)
    names = sources if params.pool.eligible is None else params.pool.eligible
    if not set(names) <= set(sources) or len(set(names)) < len(names):
        yield (
            f"pool.eligible: {quoted(names)} must be keys of generation "
            f"({', '.join(sources)}), each once; null: all of them"
        )
        return
    count = sum(params.generation[name].num_candidates for name in names)
    if count < params.pool.minimum and params.num_candidates >= 2:
        yield (
            f"pool.minimum: {params.pool.minimum} is more than the {count} candidates that can "
            f"be elected, those of pool.eligible: {', '.join(names) or 'none'}"
        )


def asked_problems(params: Sections, key: str, asked: AskedSystem) -> Iterator[str]:
    """What is wrong with `key`, a system that a server writes."""
    from brido.models.chats import message_problems

    yield from _server(params, key, asked)
    yield from message_problems(asked.reading, key)


def _server(params: Sections, key: str, asked: AskedSettings) -> Iterator[str]:
    servers = ["default", *params.runtime.endpoints]
    if asked.endpoint not in servers:
        yield no_key(f"{key}.endpoint", asked.endpoint, "runtime.endpoints", servers)


def _endpoint(params: Sections, name: str, source: EndpointGeneration) -> Iterator[str]:
    yield from _server(params, f"generation.{name}", source)
    # `reading_of` knows systems by their names too.
    if name in (*params.checkpoints, *params.tuned, *params.variants):
        yield (
            f"generation.{name}: a checkpoint or a system has the same name, so "
            f"`reading.{name}` would be about both: rename one of them"
        )
    elif (reading := params.reading_of(name)).prompt is None:
        yield (
            f"reading.{name}.prompt: this key is missing. It tells the endpoint what to write, "
            "for instance 'Summarize this text in one sentence:\\n\\n{{ document }}'"
        )
    else:
        from brido.models.chats import message_problems

        yield from message_problems(reading, f"reading.{name}")


def _equal_questions(params: Sections) -> Iterator[str]:
    """Sources that one store would give the same answers, whichever server they name."""
    known: list[tuple[str, list[Any]]] = []
    for name, source in params.generation.items():
        if not isinstance(source, EndpointGeneration):
            continue
        reading, store = params.reading_of(name), params.runtime.endpoint_of(source.endpoint).store
        asked = [source.model, source.revision, source.sent, reading.prompt, reading.system, store]
        if other := next((one for one, its in known if its == asked), ""):
            yield (
                f"generation.{name} asks what generation.{other} asks, so its candidates would "
                "be the same stored answers: change its seed, or where another model has the "
                "same name, its revision (any label)"
            )
        known.append((name, asked))
