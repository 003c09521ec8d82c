"""The host names under which the chat page answers."""

import pytest

pytest.importorskip("nicegui", reason="the extra chat is not installed")

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from langgraph_rag.chat.server import KnownHosts


@pytest.fixture
def behind_names() -> TestClient:
    """Return a client of a page that greets, known as localhost and as Box, and listening everywhere."""

    async def greet(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text("hello")
        await websocket.close()

    routes = [Route("/", lambda _: PlainTextResponse("hello")), WebSocketRoute("/ws", greet)]
    return TestClient(KnownHosts(Starlette(routes=routes), ["localhost", ""], ["Box"]))


@pytest.mark.parametrize("host", ["localhost:8501", "127.0.0.1", "[::1]:8501", "192.168.1.5:80", "box", "BOX:8501"])
def test_the_page_answers_under_names_of_its_own_and_addresses(behind_names: TestClient, host: str) -> None:
    assert behind_names.get("/", headers={"host": host}).text == "hello"
    with behind_names.websocket_connect("/ws", headers={"host": host}) as websocket:
        assert websocket.receive_text() == "hello"


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:8501", "127.0.0.1.evil.example", "[", ""])
def test_the_page_refuses_other_names(behind_names: TestClient, host: str) -> None:
    refused = behind_names.get("/", headers={"host": host})

    assert (refused.status_code, "add --allow-host" in refused.text) == (403, True)
    with (
        pytest.raises(WebSocketDenialResponse) as denied,
        behind_names.websocket_connect("/ws", headers={"host": host}),
    ):
        pass
    assert denied.value.status_code == 403


def test_other_sites_neither_frame_the_page_nor_talk_to_it(behind_names: TestClient) -> None:
    own = {"host": "localhost:8501", "origin": "http://localhost:8501"}

    assert behind_names.get("/", headers=own).headers["x-frame-options"] == "DENY"
    others = ("http://localhost:3000", "http://localhost", "http://127.0.0.1:8501", "https://localhost:8502")
    for origin in (*others, "https://evil.example", "null", "", "http://[evil", "http://:8501", "http://box.evil:1"):
        headers = {**own, "origin": origin}
        assert behind_names.get("/", headers=headers).status_code == 403
        with pytest.raises(WebSocketDenialResponse), behind_names.websocket_connect("/ws", headers=headers):
            pass


def test_behind_a_proxy_its_name_is_a_known_one(behind_names: TestClient) -> None:
    assert behind_names.get("/", headers={"host": "127.0.0.1:8501", "origin": "https://box"}).text == "hello"
    assert behind_names.get("/", headers={"host": "192.168.1.5", "origin": "https://192.168.1.5"}).text == "hello"
    other = {"host": "box", "origin": "http://localhost:3000"}
    assert behind_names.get("/", headers=other).status_code == 403
