"""A Hugging Face hub on 127.0.0.1, so that the real loading code runs without a network.

It serves folders as repositories, each with one commit and any names for it, or refuses them:
private and gated repositories, server errors.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

# What the hub says in place of an answer: the HTTP status, its own code, the message.
FAULTS = {
    "private": (401, "RepoNotFound", "Invalid username or password."),
    "gated": (403, "GatedRepo", "Access to this repository is restricted."),
    "broken": (500, "", "Internal error"),
}


@dataclass
class Repository:
    """A folder as a repository of the hub: all its revisions name one commit."""

    folder: Path
    revisions: tuple[str, ...] = ("main",)
    fault: str | None = None  # one of FAULTS

    def files(self) -> list[str]:
        """The paths of all files, sorted."""
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(str(path.relative_to(self.folder)) for path in found)

    @property
    def commit(self) -> str:
        """The commit: 40 hexadecimal digits of the content."""
        digest = hashlib.sha1()
        for name in self.files():
            digest.update(name.encode() + (self.folder / name).read_bytes())
        return digest.hexdigest()


@dataclass
class LoopbackHub:
    """The server's repositories, by ("models" or "datasets", id), and what it was asked."""

    repositories: dict[tuple[str, str], Repository] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def add(self, kind: str, name: str, folder: Path, *revisions: str) -> Repository:
        """Serve `folder` as the repository `name`, under main or the revisions given."""
        repository = Repository(folder, revisions or ("main",))
        self.repositories[kind, name] = repository
        return repository

    @contextmanager
    def running(self) -> Iterator[str]:
        """The server's address while it runs."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()


class _Handler(BaseHTTPRequestHandler):
    hub: LoopbackHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """The hub's own list of requests is enough."""

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        self.hub.requests.append(path)
        # Split before unquoting: the revision refs%2Fconvert%2Fparquet has slashes of its own.
        parts = path.strip("/").split("/")
        api = parts[0] == "api"
        parts = parts[1:] if api else parts
        kind = parts.pop(0) if parts[0] in {"models", "datasets"} else "models"
        name = unquote("/".join(parts[:2]))
        repository = self.hub.repositories.get((kind, name), Repository(Path(), fault="private"))
        if repository.fault:
            return self._refuse(*FAULTS[repository.fault])
        action, revision, *inside = [*map(unquote, parts[2:])] or ["revision", "main"]
        files, commit = repository.files(), repository.commit
        if revision not in {*repository.revisions, commit}:
            return self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        place = "/".join(inside)
        if api and action == "revision":
            siblings = [{"rfilename": name} for name in files]
            return self._json({"id": name, "sha": commit, "siblings": siblings})
        # Whoever asks about some paths (paths-info) is told of all.
        if api and (found := _entries(repository, place, "recursive=true" in self.path.lower())):
            return self._json(found)
        if api or place not in files:
            return self._refuse(404, "EntryNotFound", "Entry not found")
        content = (repository.folder / place).read_bytes()
        tag = hashlib.sha256(content).hexdigest()
        return self._send(200, content, {"ETag": f'"{tag}"', "X-Repo-Commit": commit})

    do_HEAD = do_POST = do_GET

    def _json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _refuse(self, status: int, code: str, message: str) -> None:
        headers = {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})
        self._send(status, json.dumps({"error": message}).encode(), headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _entries(repository: Repository, under: str, recursive: bool) -> list[dict]:
    """The hub's listing of a folder: files with sizes, and folders."""
    prefix = f"{under}/" if under else ""
    entries: dict[str, dict] = {}
    for name in repository.files():
        if name.startswith(prefix):
            first, *deeper = name.removeprefix(prefix).split("/")
            if deeper and not recursive:
                folder = prefix + first
                entries[folder] = {"type": "directory", "path": folder, "oid": "0" * 40, "size": 0}
            else:
                content = (repository.folder / name).read_bytes()
                digest = hashlib.sha1(content).hexdigest()
                entries[name] = {"type": "file", "path": name, "oid": digest, "size": len(content)}
    return list(entries.values())
