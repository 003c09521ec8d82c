"""Replies cached on disk: no request is sent twice, whichever process sends it."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fakes import ScriptedModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from langgraph_rag.errors import ModelCallError, ModelOutputError, ResponseCacheError
from langgraph_rag.llm import ask
from langgraph_rag.metering import metered
from langgraph_rag.models.loading import load_model
from langgraph_rag.models.response_cache import ResponseCache
from langgraph_rag.prompts.answering import ANSWER_FROM_TRIPLES, Answer
from langgraph_rag.tools.stores.database import Database

GOOD = '{"thought": "The fact says so.", "answer": "Ilse Tarrant"}'
TARRANT = Answer(thought="The fact says so.", answer="Ilse Tarrant")


def who(model: Any, film: str = "Nine Tides") -> Any:
    return ask(model, ANSWER_FROM_TRIPLES, question="Who directed it?", triples=[[film, "directed by", "Ilse Tarrant"]])


def model(file: Path, *replies: Any, name: str = "small") -> ScriptedModel:
    made = ScriptedModel.of(replies, model_name=name)
    made.cache = ResponseCache(file)
    return made


async def test_a_reply_is_kept_over_processes_and_counts_as_if_asked_for(tmp_path: Path) -> None:
    first, second = model(tmp_path / "c" / "replies.db", GOOD), model(tmp_path / "c" / "replies.db")

    with metered() as asked:
        assert await who(first) == TARRANT
    with metered() as read:
        assert await who(second) == TARRANT

    assert (len(first.received), len(second.received)) == (1, 0)
    assert (read["calls"], read["input_tokens"], read["output_tokens"]) == (1, 10, 5)
    assert asked["input_tokens"] == read["input_tokens"]


class Uncounted(ScriptedModel):
    """Tells nothing of its tokens."""

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        result = super()._generate(*args, **kwargs)
        result.generations[0].message = AIMessage(result.generations[0].message.text)
        return result


async def test_a_reply_that_came_without_a_count_of_tokens_is_kept_as_well(tmp_path: Path) -> None:
    uncounted = Uncounted.of([GOOD])
    uncounted.cache = ResponseCache(tmp_path / "replies.db")

    with metered() as asked:
        assert await who(uncounted) == TARRANT
    with metered() as read:
        assert await who(uncounted) == TARRANT

    assert len(uncounted.received) == 1
    assert asked["estimated_tokens"] == read["estimated_tokens"] > 0


async def test_another_prompt_is_asked(tmp_path: Path) -> None:
    asked = model(tmp_path / "replies.db", GOOD, GOOD)

    await who(asked)
    await who(asked, "Ten Tides")

    assert len(asked.received) == 2


async def test_what_was_answered_before_a_failure_is_kept(tmp_path: Path) -> None:
    asked = model(tmp_path / "replies.db", GOOD, OSError("the line is dead"))

    await who(asked)
    with pytest.raises(ModelCallError):
        await who(asked, "Ten Tides")
    await who(model(tmp_path / "replies.db"))


async def test_replies_that_led_to_none_that_can_be_used_are_asked_for_again(tmp_path: Path) -> None:
    asked = model(tmp_path / "replies.db", "no", "never", "I would rather not", GOOD)

    with pytest.raises(ModelOutputError):
        await who(asked)

    assert await who(asked) == TARRANT


async def test_a_reply_with_half_a_character_is_kept(tmp_path: Path) -> None:
    half = GOOD.replace("so.", "so: \ud83d")
    asked, cached = model(tmp_path / "replies.db", half, name="\ud83d"), model(tmp_path / "replies.db", name="\ud83d")

    first = await who(asked)

    assert first.answer == "Ilse Tarrant"
    assert await who(cached) == first


async def test_replies_that_were_repaired_are_kept(tmp_path: Path) -> None:
    asked = model(tmp_path / "replies.db", "no", GOOD)

    assert [await who(asked), await who(asked)] == [TARRANT, TARRANT]
    assert len(asked.received) == 2


@pytest.mark.parametrize("damaged", ["{broken", "5", "[null]", '[{"type": "ai"}]', '{"a": 1}'])
async def test_a_damaged_reply_is_asked_for_again(tmp_path: Path, damaged: str) -> None:
    await who(model(tmp_path / "replies.db", GOOD))
    with sqlite3.connect(tmp_path / "replies.db") as file:
        file.execute("UPDATE replies SET reply = ?", [damaged])

    assert await who(model(tmp_path / "replies.db", GOOD)) == TARRANT
    assert await who(model(tmp_path / "replies.db")) == TARRANT


async def test_a_cache_is_named_when_a_model_is_loaded(tmp_path: Path) -> None:
    for _ in range(2):
        await who(load_model("offline", cache=tmp_path / "replies.db"))

    with sqlite3.connect(tmp_path / "replies.db") as file:
        assert file.execute("SELECT count(*) FROM replies").fetchone() == (1,)


def test_a_model_that_is_given_more_time_is_the_same_one(localhost: None, tmp_path: Path) -> None:
    cache, kept = ResponseCache(tmp_path / "replies.db"), [ChatGeneration(message=AIMessage("Ost"))]

    def settings(**options: Any) -> str:
        served: Any = load_model("vllm:small", base_url="http://localhost:1/v1", **options)
        return str(served._get_llm_string())

    cache.update("Where?", settings(), kept)

    assert cache.lookup("Where?", settings(timeout=900, max_retries=7, stream_chunk_timeout=5)) == kept
    assert cache.lookup("Where?", settings(temperature=1)) is None


def test_many_threads_and_connections_write_at_once(tmp_path: Path) -> None:
    caches = [ResponseCache(tmp_path / "replies.db") for _ in range(3)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: caches[n % 3].update(str(n), "m", []), range(60)))

    assert all(caches[0].lookup(str(n), "m") == [] for n in range(60))
    caches[1].clear()
    assert caches[2].lookup("1", "m") is None


def test_a_new_file_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "replies.db", check_same_thread=False, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as threads:
        opened = threads.submit(ResponseCache, tmp_path / "replies.db")
        with pytest.raises(TimeoutError):
            opened.result(timeout=0.2)
        other.execute("COMMIT")

    assert opened.result().lookup("1", "m") is None
    other.close()


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("These are my notes. " * 100)

    for path in (tmp_path / "notes.txt", tmp_path, tmp_path / "notes.txt" / "below"):
        with pytest.raises(ResponseCacheError, match=f"expected a file of cached replies at {path}, or none yet"):
            ResponseCache(path)
    assert (tmp_path / "notes.txt").read_text().startswith("These are my notes")


def test_a_database_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "records.sqlite") as other:
        other.execute("CREATE TABLE passages (id TEXT)")

    with pytest.raises(ResponseCacheError, match="it has other tables: passages"):
        ResponseCache(tmp_path / "records.sqlite")

    assert [name for (name,) in other.execute("SELECT name FROM sqlite_master")] == ["passages"]
    other.close()


@pytest.mark.parametrize("opening", [ResponseCache, Database])
def test_a_file_that_is_refused_is_not_kept_open(
    opening: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, connect = list[sqlite3.Connection](), sqlite3.connect

    def noting(*given: Any, **options: Any) -> sqlite3.Connection:
        opened.append(connect(*given, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", noting)
    (tmp_path / "notes.txt").write_text("These are my notes. " * 100)

    with pytest.raises((ResponseCacheError, sqlite3.DatabaseError)):
        opening(tmp_path / "notes.txt")
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        opened[0].execute("SELECT 1")


def test_a_cache_that_nobody_holds_any_more_closes_its_file(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "replies.db")
    connection = cache._connection

    del cache

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
