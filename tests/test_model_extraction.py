"""Extraction of facts by a model: several passages in one call, replies of all forms, estimates and budgets."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from fakes import ArithmeticEmbeddings, ScriptedModel

from langgraph_rag.context import Context
from langgraph_rag.errors import BudgetReachedError
from langgraph_rag.metering import metered
from langgraph_rag.nodes.extract_triples import ModelExtractor
from langgraph_rag.records import Fact, Record, Usage
from langgraph_rag.tools.facts.extraction import Reading
from langgraph_rag.tools.knowledge_base import KnowledgeBase

ISLES = ["Kell", "Sund", "Ferl", "Ost", "Orsby", "Thorn", "Holm", "Skell", "Brack", "Vint"]


def isle(name: str, text: str = "It lies in Norland.") -> Record:
    return Record(id=name, title=name, text=text, hash="", sentences=[text], phrases=[])


def reply(facts: Mapping[Any, list[Any]]) -> str:
    return json.dumps({"passages": [{"passage": number, "facts": found} for number, found in facts.items()]})


def lies(values: Mapping[str, Any], *left_out: str) -> dict[Any, list[Any]]:
    """Return that each isle lies in Norland, by number."""
    titles = [passage["title"] for passage in values["passages"]]
    return {n: [["1", t, "lies in", "Norland"]] for n, t in enumerate(titles, start=1) if t not in left_out}


async def read(
    script: Callable[[str, Mapping[str, Any]], str | Exception], names: Sequence[str] = ISLES
) -> tuple[dict[str, Any], list[list[str]], Usage]:
    """Return the facts of each isle, the isles of each call, and the cost."""
    model = ScriptedModel.of(script)
    readings: list[Reading] = []
    with metered() as usage:
        async for batch in ModelExtractor(model).extract([*map(isle, names)]):
            readings += batch
    asked = [messages[1].response_metadata["langgraph_rag"]["values"]["passages"] for messages in model.received]
    return dict(readings), [[passage["title"] for passage in passages] for passages in asked], usage


def told(name: str) -> list[Fact]:
    return [Fact(triple=[name, "lies in", "Norland"], sentences=[0])]


async def test_one_call_reads_several_passages() -> None:
    found, asked, usage = await read(lambda _, values: reply(lies(values)))

    assert found == {name: told(name) for name in ISLES}
    assert asked == [ISLES[:8], ISLES[8:]]
    assert (usage["calls"], usage["dropped"]) == (2, 0)


async def test_passages_missing_from_a_reply_are_asked_for_again_with_fewer_others() -> None:
    found, asked, _ = await read(
        lambda _, values: reply(lies(values, *(["Sund", "Ost"] * (len(values["passages"]) > 2))))
    )

    assert found == {name: told(name) for name in ISLES}
    assert asked == [ISLES[:8], ISLES[8:], ["Sund", "Ost"]]


async def test_where_all_are_missing_each_half_is_tried_and_one_alone_states_nothing() -> None:
    found, asked, usage = await read(lambda *_: '{"passages": []}', ISLES[:4])

    assert found == {name: [] for name in ISLES[:4]}
    assert sorted(map(len, asked)) == [1, 1, 1, 1, 2, 2, 4]
    assert usage["repairs"] == 0


async def test_a_batch_that_the_model_fails_at_is_divided_and_only_the_passage_at_fault_is_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def script(_: str, values: Mapping[str, Any]) -> str:
        return "I would rather not." if "Ferl" in str(values) else reply(lies(values))

    found, _, _ = await read(script, ISLES[:4])

    assert found == {name: told(name) for name in ("Kell", "Sund", "Ost")}
    assert caplog.text.count("a passage is left without triples for now") == 1


async def test_facts_of_passages_that_were_not_shown_are_dropped_and_counted() -> None:
    found, _, usage = await read(
        lambda _, values: reply({**lies(values), 9: [["1", "Mars", "is", "isle"]] * 2}), ISLES[:3]
    )

    assert found == {name: told(name) for name in ISLES[:3]}
    assert usage["dropped"] == 2


@pytest.mark.parametrize(
    ("number", "fact", "sentences"),
    [
        (1, ["1", "Kell", "lies in", "Norland"], [0]),
        ("1", [1, "Kell", "lies in", "Norland"], [0]),
        ("Passage 1", ["[1]", "Kell", "lies in", "Norland"], [0]),
        (7, ["1.", "Kell", "lies in", "Norland"], [0]),  # alone, it can be no other
        (1, "1 | Kell | lies in | Norland", [0]),
        (1, {"sentence": 1, "head": "Kell", "relation": "lies in", "tail": "Norland"}, [0]),
        (1, ["Kell", "lies in", "Norland"], []),
        (1, ["0", "Kell", "lies in", "Norland"], []),
    ],
    ids=str,
)
async def test_a_reply_may_have_the_forms_that_models_write(number: Any, fact: Any, sentences: list[int]) -> None:
    found, _, usage = await read(lambda *_: reply({number: [fact, ["too", "short"]]}), ["Kell"])

    assert found == {"Kell": [Fact(triple=["Kell", "lies in", "Norland"], sentences=sentences)]}
    assert usage["repairs"] == 0


def test_the_sentence_that_the_model_names_is_stored_if_it_bears_the_fact_out(tmp_path: Path) -> None:
    text = "Kell is an isle of Norland. Kell was sold to Norland. Kell was not sold to Ferl."
    facts = [["2", "Kell", "of", "Norland"], ["1", "Kell", "was sold to", "Norland"], ["3", "Kell", "sold to", "Ferl"]]
    model = ScriptedModel.of(lambda *_: reply({1: [*facts, ["3", "Kell", "is", "town"]]}))

    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=ModelExtractor(model)) as kb:
        assert kb.add([{"id": "kell", "title": "Kell", "text": text}], progress=False)["dropped"] == 2

        stored = {entry["triple"][1]: entry["sources"][0]["sentences"] for entry in kb.triples(["kell"])}
        assert stored == {"of": [1], "was sold to": [0]}


async def test_long_passages_share_a_call_with_fewer_others() -> None:
    model = ScriptedModel.of(lambda _, values: reply(lies(values)))
    passages = [isle(name, "It lies in Norland. " * 150) for name in ISLES]  # 750 tokens

    async for _ in ModelExtractor(model).extract(passages):
        pass

    assert len(model.received) == 5


# --- what it takes ---------------------------------------------------------------------------------------------------
def test_the_estimate_is_of_the_real_prompts_and_asks_no_model() -> None:
    model = ScriptedModel.of([])

    cost = ModelExtractor(model).cost([*map(isle, ISLES)])

    assert cost.calls == 2
    sent = sum(len(message.text) for batch in (ISLES[:8], ISLES[8:]) for message in shown(batch))
    assert cost.input_tokens == pytest.approx(sent / 4, abs=2)
    assert 50 < cost.output_tokens < 500
    assert ModelExtractor(model).cost([]) == (0, 0, 0)
    assert model.received == []


def shown(names: Sequence[str]) -> list[Any]:
    return ModelExtractor(ScriptedModel.of([])).prompt.render(passages=[*map(isle, names)])


def test_the_instructions_hold_nothing_that_could_be_copied_into_a_reply() -> None:
    instructions = ModelExtractor(ScriptedModel.of([])).prompt.instructions

    assert "Example" not in instructions
    assert instructions.count("[[") == 1  # the form, in words


@pytest.mark.parametrize("most", [Context(max_model_calls=1), Context(max_tokens=600)])
async def test_a_budget_ends_the_reading_and_what_was_read_is_there(most: Context) -> None:
    model, readings = ScriptedModel.of(lambda _, values: reply(lies(values))), list[Reading]()

    with metered(most=most) as usage, pytest.raises(BudgetReachedError, match="the budget, max_"):
        async for batch in ModelExtractor(model).extract([*map(isle, ISLES)]):
            readings += batch

    assert (usage["calls"], len(model.received)) == (1, 1)
    assert len(readings) in (2, 8)
