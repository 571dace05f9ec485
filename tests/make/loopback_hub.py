"""A Hugging Face hub on 127.0.0.1, so that the real loading code runs without a network.

It serves folders as repositories, each with one commit and any names for it, and misbehaves on
demand: private and gated repositories, server errors, connections that break off.
"""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class Repository:
    """A folder as a repository of the hub: all its revisions name one commit."""

    folder: Path
    revisions: tuple[str, ...] = ("main",)
    # None, or what the hub answers instead: private | gated | broken
    fault: str | None = None

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
    # Break the connection once after so many bytes of a file, None: never.
    break_after: int | None = None

    def add(self, kind: str, name: str, folder: Path, *revisions: str) -> Repository:
        """Serve `folder` as the repository `name`, under main or the revisions given."""
        repository = Repository(folder, revisions or ("main",))
        self.repositories[kind, name] = repository
        return repository

    @contextmanager
    def running(self) -> Iterator[str]:
        """The server's address while it runs."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: LoopbackHub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def log_message(self, *arguments: object) -> None:
        """Keep quiet: the hub's own list of requests is enough."""

    def _answer(self, body: bytes = b"") -> None:
        path = urlsplit(self.path).path
        self.hub.requests.append(f"{self.command} {path} {self.headers.get('Range', '')}".strip())
        # Paths are matched before unquoting: a revision such as refs%2Fconvert%2Fparquet has
        # slashes of its own.
        parts = path.strip("/").split("/")
        api = parts[0] == "api"
        if api:
            parts = parts[1:]
        kind = parts.pop(0) if parts[0] in {"models", "datasets"} else "models"
        repository = self.hub.repositories.get((kind, unquote("/".join(parts[:2]))))
        if repository is None or repository.fault == "private":
            return self._refuse(401, "RepoNotFound", "Invalid username or password.")
        if repository.fault == "gated":
            return self._refuse(403, "GatedRepo", "Access to this repository is restricted.")
        if repository.fault == "broken":
            return self._refuse(500, "", "Internal error")
        action, *rest = parts[2:] or ["revision", "main"]
        revision = unquote(rest[0]) if rest else "main"
        if revision not in {*repository.revisions, repository.commit}:
            return self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        path_inside = "/".join(unquote(part) for part in rest[1:])
        if not api:
            return self._file(repository, path_inside)
        if action == "revision":
            return self._json(self._info(kind, parts, repository))
        if action == "tree":
            entries = _entries(repository, path_inside, "recursive=true" in self.path.lower())
            if not entries:
                return self._refuse(404, "EntryNotFound", f"{path_inside} does not exist")
            return self._json(entries)
        if action == "paths-info":
            wanted = json.loads(body)["paths"]
            everything = _entries(repository, "", True)
            return self._json([entry for entry in everything if entry["path"] in wanted])
        return self._refuse(404, "EntryNotFound", f"no such address: {path}")

    def _info(self, kind: str, parts: list[str], repository: Repository) -> dict:
        return {
            "id": "/".join(parts[:2]),
            "sha": repository.commit,
            "private": False,
            "tags": [],
            "downloads": 0,
            "siblings": [{"rfilename": name} for name in repository.files()],
        }

    def _file(self, repository: Repository, name: str) -> None:
        if name not in repository.files():
            return self._refuse(404, "EntryNotFound", "Entry not found")
        content = (repository.folder / name).read_bytes()
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")[0])
        self.send_response(206 if start else 200)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", repository.commit)
        self.send_header("Accept-Ranges", "bytes")
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if self.command == "HEAD":
            return
        rest = content[start:]
        limit = self.hub.break_after
        if limit is not None and len(rest) > limit:
            self.hub.break_after = None
            self.wfile.write(rest[:limit])
            self.close_connection = True
            return
        self.wfile.write(rest)

    def _json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _refuse(self, status: int, code: str, message: str) -> None:
        headers = {"X-Error-Message": message}
        if code:
            headers["X-Error-Code"] = code
        self._send(status, json.dumps({"error": message}).encode(), headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _entries(repository: Repository, under: str, recursive: bool) -> list[dict]:
    """The hub's listing of a folder: files with sizes, and folders."""
    prefix = f"{under}/" if under else ""
    entries: dict[str, dict] = {}
    for name in repository.files():
        if not name.startswith(prefix):
            continue
        inside = name.removeprefix(prefix).split("/")
        for depth in range(1, len(inside) if recursive else min(len(inside), 2)):
            folder = prefix + "/".join(inside[:depth])
            entries[folder] = {"type": "directory", "path": folder, "oid": "0" * 40, "size": 0}
        if recursive or len(inside) == 1:
            content = (repository.folder / name).read_bytes()
            digest = hashlib.sha1(content).hexdigest()
            entries[name] = {"type": "file", "path": name, "oid": digest, "size": len(content)}
    return list(entries.values())
