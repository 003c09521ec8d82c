"""An aligner is trained on chains that a model builds, and KiRAG uses the one in its knowledge base."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from fakes import ScriptedModel
from tiny_bert import save_bert
from typer.testing import CliRunner

from langgraph_rag import KnowledgeBase, create_kirag, load_model
from langgraph_rag.cli import app
from langgraph_rag.errors import RagError
from langgraph_rag.evaluation.questions import Question, load_questions
from langgraph_rag.tools.ingest.embeddings import FAMILIES, Family, load_embeddings
from langgraph_rag.tools.retrieve.ranking import BiEncoder, OwnAligner
from langgraph_rag.training.aligner import in_place_of, train_aligner
from langgraph_rag.training.lessons import Lesson, lessons_of, reasoning_chain

SAMPLE = Path(__file__).parent.parent / "langgraph_rag" / "sample" / "questions.jsonl"
CORPUS = SAMPLE.with_name("corpus.jsonl")
QUESTION = "Whom did the director of Nine Tides marry?"
SUPPORT = ["nine-tides", "ilse-tarrant"]
WORDS = "alder birch cedar maple oak pine rowan willow north south east west one two three four"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a small random model that knows every second word of the sample documents."""
    words = list(dict.fromkeys(re.findall(r"\w+", CORPUS.read_text(encoding="utf-8").lower())))[1::2]
    return save_bert(tmp_path_factory.mktemp("models") / "base", f"query passage : {WORDS} {' '.join(words)}")


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one epoch change a small model."""
    fitting: Any = pytest.importorskip("langgraph_rag.training.fitting")
    monkeypatch.setattr(fitting, "_LEARNING_RATE", 1e-3)


@pytest.fixture(scope="module")
def asked_twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write each question of the sample twice: a small model ranks what is held back better if it learns it too."""
    questions = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    lines = [json.dumps({**one, "id": f"{one['id']}-{time}"}) for time in (1, 2) for one in questions]
    file = tmp_path_factory.mktemp("questions") / "twice.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


# --- chains ----------------------------------------------------------------------------------------------------------
def adding(number: int, conclusion: str) -> ScriptedModel:
    """Return a model that continues each chain with the first candidates."""

    def reply(prompt: str, told: Mapping[str, Any]) -> str:
        return json.dumps({"chain": told["candidates"][:number], "conclusion": conclusion})

    return ScriptedModel.of(reply)


async def test_a_chain_leads_through_the_supporting_passages_to_the_answer(sample_kb: KnowledgeBase) -> None:
    chain = await reasoning_chain(load_model("offline"), sample_kb, QUESTION, ["Corwen Ashlade"], SUPPORT)

    assert chain[0]["triple"][0] == "Nine Tides"
    assert [link["triple"][2] == "Corwen Ashlade" for link in chain] == [False] * (len(chain) - 1) + [True]


async def test_a_chain_that_is_too_long_to_teach_anything_goes_no_further(sample_kb: KnowledgeBase) -> None:
    model = adding(1, "More is missing.")

    assert await reasoning_chain(model, sample_kb, "Who?", ["Nobody"], sample_kb.ids()[:9]) == []
    assert len(model.received) == 6


async def test_a_chain_that_comes_to_another_answer_is_none(sample_kb: KnowledgeBase) -> None:
    assert await reasoning_chain(load_model("offline"), sample_kb, QUESTION, ["Ada Moss"], SUPPORT) == []


async def test_a_chain_that_names_the_answer_but_concludes_with_another_is_none(sample_kb: KnowledgeBase) -> None:
    knowledge = [entry["triple"] for entry in await sample_kb.atriples(SUPPORT)]

    for says, links in (("fog", 0), (knowledge[2][2], 3), (f"the {knowledge[2][2]} there", 3)):
        model = adding(3, f"So the answer is {says}.")
        assert len(await reasoning_chain(model, sample_kb, QUESTION, [knowledge[2][2]], SUPPORT)) == links


async def test_a_fact_with_no_in_it_answers_no_question(empty_kb: KnowledgeBase) -> None:
    ids = empty_kb.add([{"title": "No Songs", "text": "No Songs was directed by Jon Hale."}], progress=False)["ids"]

    for says, links in (("More is missing.", 0), ("So the answer is no.", 1)):
        assert len(await reasoning_chain(adding(1, says), empty_kb, "Did Jon Hale sing?", ["no"], ids)) == links


async def test_a_chain_ends_with_the_answer_also_where_the_model_does_not_say_so(sample_kb: KnowledgeBase) -> None:
    knowledge = [entry["triple"] for entry in await sample_kb.atriples(SUPPORT)]
    model = adding(1, "More is missing.")
    chain = await reasoning_chain(model, sample_kb, QUESTION, [knowledge[2][2]], SUPPORT)

    assert [link["triple"] for link in chain] == knowledge[:3]


async def test_an_answer_that_the_question_names_ends_no_chain(sample_kb: KnowledgeBase) -> None:
    model = adding(3, "So the answer is Nine Tides.")
    chain = await reasoning_chain(model, sample_kb, "Was Nine Tides or Marrow Light earlier?", ["Nine Tides"], SUPPORT)

    assert len(chain) == 3
    assert "Nine Tides" in chain[0]["name"]


async def test_a_chain_that_is_longer_than_kirags_is_none(sample_kb: KnowledgeBase) -> None:
    model = adding(6, "So the answer is fog.")

    assert await reasoning_chain(model, sample_kb, QUESTION, ["fog"], SUPPORT) == []
    assert len(await reasoning_chain(adding(5, "So the answer is fog."), sample_kb, QUESTION, ["fog"], SUPPORT)) == 5


# --- lessons ---------------------------------------------------------------------------------------------------------
async def test_each_step_of_a_chain_is_a_lesson_with_what_else_is_found_there(sample_kb: KnowledgeBase) -> None:
    chain = await reasoning_chain(load_model("offline"), sample_kb, QUESTION, ["Corwen Ashlade"], SUPPORT)
    lessons = await lessons_of(sample_kb, QUESTION, chain)

    assert [lesson.right for lesson in lessons] == [link["text"] for link in chain]
    first, second, *_ = lessons
    assert first.query == QUESTION
    assert second.query == f"{QUESTION}. knowledge triples: {first.right}"
    assert not {link["text"] for link in chain} & {*first.wrong, *second.wrong}
    assert len(first.wrong) > 20


# --- training --------------------------------------------------------------------------------------------------------
@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("family", [Family(), FAMILIES["e5"]])
def test_training_brings_the_right_triple_to_the_front(base: Path, family: Family) -> None:
    fitting: Any = pytest.importorskip("langgraph_rag.training.fitting")
    from langgraph_rag.tools.ingest.encoders import read_model

    words = WORDS.split()
    lessons = [
        Lesson(asked, right, [word for word in words[8:] if word != right])
        for asked, right in zip(words[:8], words[8:], strict=True)
    ]
    model, passed = read_model(str(base), "mean"), list[int]()
    before, after = fitting.fit(model, family, lessons, lessons, epochs=30, each_batch=lambda: passed.append(1))

    assert before.first <= 0.5
    assert (after.first, after.shown, after.reciprocal) == (1, 1, 1)
    assert len(passed) == 30 * fitting.batches_of(lessons)
    assert fitting._Trainee(model, family).ranks(lessons) == after


@pytest.fixture
def own_sample(sample_folder: Path, tmp_path: Path) -> Path:
    """Copy the sample knowledge base, to put an aligner in it."""
    return Path(shutil.copytree(sample_folder, tmp_path / "kb"))


@pytest.mark.usefixtures("eager")
def test_an_aligner_is_trained_into_the_knowledge_base_and_kirag_takes_it(
    base: Path, own_sample: Path, asked_twice: Path
) -> None:
    with KnowledgeBase.open(own_sample) as kb:
        unmarked = kb.fingerprint()
        questions = load_questions(asked_twice)
        trained = train_aligner(load_model("offline"), kb, questions, base=str(base), epochs=5, progress=False)

        assert trained.folder == own_sample / "aligner"
        assert trained.questions == len(questions) - 2 > trained.chains >= 10
        assert trained.lessons > trained.chains
        assert kb.fingerprint() != unmarked
        graph: Any = create_kirag(load_model("offline"), kb)
        assert isinstance(graph.nodes["identify_candidates"].runnable.step.aligner, BiEncoder)
        result = graph.compile().invoke({"question": QUESTION})
    assert result["answer"]
    assert len(load_embeddings(str(trained.folder)).embed_query("oak")) == 16


def test_without_one_kirag_takes_the_embedder_of_the_knowledge_base(sample_kb: KnowledgeBase) -> None:
    node: Any = create_kirag(load_model("offline"), sample_kb).nodes["identify_candidates"].runnable

    assert isinstance(node.step.aligner, OwnAligner)


def test_a_model_that_learns_nothing_is_no_aligner(own_sample: Path, tmp_path: Path) -> None:
    wordless = save_bert(tmp_path / "wordless", WORDS)
    with KnowledgeBase.open(own_sample) as kb, pytest.raises(RagError, match="no epoch ranked the 3 steps held back"):
        train_aligner(load_model("offline"), kb, load_questions(SAMPLE), base=str(wordless), epochs=1, progress=False)

    assert not list(own_sample.glob("aligner*"))


@pytest.mark.usefixtures("eager")
def test_a_trained_aligner_replaces_an_earlier_one_and_nothing_else(
    base: Path, own_sample: Path, asked_twice: Path
) -> None:
    with KnowledgeBase.open(own_sample, read_only=True) as kb:

        def train(out: Path) -> Path:
            questions = load_questions(asked_twice)
            return train_aligner(
                load_model("offline"), kb, questions, out, base=str(base), epochs=1, progress=False
            ).folder

        out = own_sample.parent / "e5-aligner"
        killed = out.parent / "e5-aligner.part"
        (killed / "1_Pooling").mkdir(parents=True)
        for left in ("trained_by_langgraph_rag", "modules.json"):
            (killed / left).write_text("")
        train(out)
        train(out)

        assert sorted(path.name for path in out.parent.iterdir()) == ["e5-aligner", "kb"]
        model = Path(copytree(base, out.parent / "my-model"))
        with pytest.raises(RagError, match="expected a new folder for the aligner, or that of an earlier one, got "):
            train(model)
        assert sorted(model.iterdir()) == sorted(model / file.name for file in base.iterdir())
        with pytest.raises(RagError, match="expected a new folder for the aligner, or that of an earlier one, got "):
            train(own_sample)
        thesis = out.parent / "x.part" / "thesis.txt"
        thesis.parent.mkdir()
        thesis.write_text("Mine.")
        with pytest.raises(RagError, match=r"expected a new folder for the aligner, .* got .*x\.part"):
            train(out.parent / "x")
        assert thesis.read_text() == "Mine."
        with in_place_of(out), pytest.raises(RagError, match="another aligner is being trained for .*e5-aligner"):
            train(out)


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ([], "got 0 of 0 questions"),
        ([Question(id="1", question="Who?", answers=["Ada"])], "got 0 of 0 questions"),
        ([Question(id="1", question="Who?", answers=["Ada"], supporting_ids=["sarl-viaduct"])], "got 0 of 1 question "),
        ([Question(id="1", question="Who?", answers=["Ada"], supporting_ids=["elsewhere"])], "got 0 of 0 questions "),
    ],
)
def test_too_few_chains_are_told(base: Path, own_sample: Path, questions: list[Question], said: str) -> None:
    with KnowledgeBase.open(own_sample) as kb, pytest.raises(RagError, match="at least 5 questions") as error:
        train_aligner(load_model("offline"), kb, questions, base=str(base), progress=False)

    assert said in str(error.value)
    assert not list(own_sample.glob("aligner*"))


def test_replies_that_cannot_be_read_cost_their_questions_alone(base: Path, own_sample: Path) -> None:
    with KnowledgeBase.open(own_sample) as kb, pytest.raises(RagError, match="got 0 of 11 questions"):
        train_aligner(ScriptedModel.of(lambda *_: "no"), kb, load_questions(SAMPLE), base=str(base), progress=False)


def test_what_cannot_be_trained_is_told_before_the_model_is_asked(own_sample: Path, base: Path, tmp_path: Path) -> None:
    model = ScriptedModel.of([])
    with KnowledgeBase.open(own_sample) as kb:
        questions = load_questions(SAMPLE)
        with pytest.raises(RagError, match="can neither be read nor downloaded"):
            train_aligner(model, kb, questions, base=str(tmp_path / "none"), progress=False)
        with pytest.raises(RagError, match="cannot be trained on device 'abacus'"):
            train_aligner(model, kb, questions, base=str(base), device="abacus", progress=False)
        with pytest.raises(RagError, match="the aligner cannot be written to .*lock/aligner: Not a directory"):
            train_aligner(model, kb, questions, own_sample / "lock" / "aligner", base=str(base), progress=False)
        with pytest.raises(ValueError, match="epochs must be a whole number of at least 1, got 0"):
            train_aligner(model, kb, [], epochs=0)

    assert not model.received


# --- the command -----------------------------------------------------------------------------------------------------
@pytest.mark.usefixtures("eager")
def test_the_command_says_what_the_aligner_learnt_from_and_how_it_ranks(
    base: Path, own_sample: Path, asked_twice: Path
) -> None:
    options = ["--kb", str(own_sample), "--questions", str(asked_twice), "--base", str(base), "--epochs", "5"]
    result = CliRunner().invoke(app, ["train-aligner", *options], catch_exceptions=False)

    assert result.exit_code == 0, result.output
    assert "of 22 questions came to the answer" in result.output
    assert "mean reciprocal rank" in result.output
    assert f"The aligner is in {own_sample}/aligner: kirag uses it from now on." in result.output
    assert "aligner                   trained" in CliRunner().invoke(app, ["info", "--kb", str(own_sample)]).output
    oak, pine = (load_embeddings(str(own_sample / "aligner")).embed_query(word) for word in ("oak", "pine"))
    assert not np.allclose(oak, pine)
