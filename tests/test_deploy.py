"""What `deploy/` has: the steps of the container file without a container engine, and the compose file."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml
from pages import ROOT

DEPLOY = ROOT / "deploy"
pytestmark = pytest.mark.enable_socket


def environment(**more: str) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **more}


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def asked(url: str, question: str | None = None) -> Any:
    body = None if question is None else json.dumps({"question": question}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def test_the_check_of_the_container_file_passes_and_an_unknown_step_is_told() -> None:
    steps = ["sh", str(DEPLOY / "steps.sh")]
    checked = subprocess.run([*steps, "check"], capture_output=True, text=True, env=environment(), check=True)
    assert "checked: the default embedder answers" in checked.stdout
    unknown = subprocess.run([*steps, "nothing"], capture_output=True, text=True, env=environment())
    assert unknown.returncode == 2
    assert "steps.sh install" in unknown.stdout


def test_the_app_is_healthy_and_answers(sample_folder: Path, tmp_path: Path) -> None:
    kb, port = tmp_path / "kb", str(free_port())
    shutil.copytree(sample_folder, kb)
    given = environment(LANGGRAPH_RAG_KB=str(kb), PORT=port, HOST="127.0.0.1")
    server = subprocess.Popen(["sh", str(DEPLOY / "steps.sh"), "serve"], env=given)
    try:
        deadline = time.monotonic() + 120
        while True:
            assert server.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server does not answer"
            try:
                assert asked(f"http://127.0.0.1:{port}/health") == {"status": "ok"}
                break
            except OSError:
                time.sleep(0.3)
        reply = asked(f"http://127.0.0.1:{port}/ask", "Whom did the director of Nine Tides marry?")
        assert reply["answered"]
        assert reply["evidence"]
    finally:
        server.terminate()
        server.wait()


def test_the_container_is_not_run_as_root_and_checks_its_embedder() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    assert lines.index("USER rag") < lines.index("RUN sh steps.sh check")
    copied = [word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]]
    assert all(list(ROOT.glob(word)) for word in copied)


def engine() -> str | None:
    """Return a container engine that works here."""
    for name in ("docker", "podman", "buildah"):
        if shutil.which(name) and subprocess.run([name, "info"], capture_output=True).returncode == 0:
            return name
    return None


@pytest.mark.slow
def test_the_image_is_built_and_answers() -> None:
    if not (found := engine()):
        pytest.skip("no container engine works here")
    command = ["sh", str(DEPLOY / "try_image.sh"), found]
    tried = subprocess.run(command, capture_output=True, text=True, env=environment(PORT=str(free_port())))
    assert "tried: the image indexes and answers" in tried.stdout, tried.stderr[-2000:]


def test_every_service_of_the_compose_file_runs_the_package_or_a_named_image() -> None:
    file = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for name, service in file["services"].items():
        assert service["image"], name
        for volume in service.get("volumes", []):
            assert volume.startswith((".", "/")) or volume.split(":")[0] in file["volumes"]
    assert not re.search(r"(PASSWORD|KEY): *['\"]?\w", (DEPLOY / "compose.yaml").read_text()), "a secret in the file"
