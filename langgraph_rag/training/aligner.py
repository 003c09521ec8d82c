"""Training of KiRAG's aligner: from questions with known answers to a folder that KiRAG loads."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from tqdm.auto import tqdm

from langgraph_rag.arguments import expect, expect_count
from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.concurrency.tasks import map_limited
from langgraph_rag.errors import MissingExtraError, ModelOutputError, RagError, RequestRefusedError
from langgraph_rag.evaluation.questions import Question, as_questions
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.naming import counted
from langgraph_rag.progress import hidden
from langgraph_rag.tools.ingest.embeddings import CPU, MINILM, family_of, packaged_minilm
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.training.lessons import Lesson, lessons_of, reasoning_chain

if TYPE_CHECKING:
    from langgraph_rag.training.fitting import Ranks

_IN_PROGRESS = ".part"
_MARK = "trained_by_langgraph_rag"  # a file, locked during training; a folder without it is not ours to replace


@contextmanager
def in_place_of(folder: Path) -> Iterator[Path]:
    """Yield a new folder that replaces another one at the end, so that nobody loads an incomplete aligner.

    Raises:
        RagError: when one of the two folders holds something else, cannot be written to, or another training is there.
    """
    written = folder.with_name(folder.name + _IN_PROGRESS)
    mark = written / _MARK
    for there in (folder, written):
        if there.exists() and not (there / _MARK).exists():
            raise RagError(f"expected a new folder for the aligner, or that of an earlier one, got {there}")
    lock = FileLock(mark, blocking=False)
    with writing(folder):
        written.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise RagError(f"another aligner is being trained for {folder}: wait, or give another folder") from error
    try:
        with writing(folder):
            _empty(written)  # a killed run may have left something
        yield written
        lock.release()
        with writing(folder):
            shutil.rmtree(folder, ignore_errors=True)
            written.rename(folder)
    finally:
        lock.release()
        shutil.rmtree(written, ignore_errors=True)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Convert the errors of writing an aligner.

    Raises:
        RagError: when the folder cannot be written to.
    """
    try:
        yield
    except OSError as error:
        raise RagError(f"the aligner cannot be written to {folder}: {error.strerror or error}") from error


def _empty(folder: Path) -> None:
    for left in folder.iterdir():
        if left.is_dir():
            shutil.rmtree(left)
        elif left.name != _MARK:
            left.unlink()


_HELD_BACK = 10  # one question in this many is held back
_FEWEST = 5  # minimum number of chains


@dataclass(frozen=True)
class Trained:
    """What an aligner was trained on, and how it ranks the right triples of the held-out questions.

    `chains` counts the chains that reached their answers, `questions` all that were usable. Each of the `lessons` is a
    step of such a chain.
    """

    folder: Path
    questions: int
    chains: int
    lessons: int
    before: "Ranks"
    after: "Ranks"


def train_aligner(
    llm: ChatModel,
    kb: KnowledgeBase,
    questions: Iterable[Mapping[str, Any]],
    out: str | Path | None = None,
    *,
    base: str = MINILM,
    epochs: int = 10,
    device: str = CPU,
    concurrency: int = 1,
    progress: bool = True,
) -> Trained:
    """Train a bi-encoder to tell which triple continues a chain (KiRAG, section 3.4 and appendix B.3).

    The model builds a chain for each question from the triples of its supporting passages. The aligner is trained on
    the chains that reach the answer. One question in ten is held out, and the epoch that ranks the steps of these
    questions best is kept.

    Args:
        llm: the model that builds the chains.
        kb: the knowledge base that holds the passages.
        questions: questions with `answers`, and `supporting_ids` of passages in the knowledge base; others are left
            out.
        out: the folder for the aligner; by default the one in the knowledge base, where KiRAG finds it.
        base: the embedder to start from: its name or its folder. If the name of `out` contains the word `e5` or `bge`,
            the aligner has the prefixes of that family.
        epochs: the number of passes over all steps.
        device: where to train, as torch names it, such as `cuda`.
        concurrency: how many questions are asked at once.
        progress: whether to show a progress bar.

    Raises:
        ValueError: when an item is not a question, or a number is less than 1.
        RagError: when too few chains reach their answers, no epoch improves the model, the base or the device cannot
            be used, or the folder holds something else.
        TypeError: when `out` is not a path.
    """
    expect(str | os.PathLike | None, out, "the path of a folder (out)", "by default the one in the knowledge base")
    expect_count(epochs, "epochs")
    expect_count(concurrency, "concurrency")
    held = set(kb.ids())
    known = [q for q in as_questions(questions) if q.get("answers") and _support(q) and held.issuperset(_support(q))]
    folder = Path(out) if out is not None else kb.aligner
    with in_place_of(folder) as written:
        model = _model(base, device)
        from langgraph_rag.training.fitting import batches_of, fit

        with tqdm(total=len(known), desc="building chains", unit="question", disable=hidden(progress)) as bar:
            taught = list(filter(None, run_in_background(_taught(llm, kb, known, concurrency, bar))))
        if len(taught) < _FEWEST:
            raise RagError(
                f"expected at least {_FEWEST} questions whose chains of triples come to the answer, got "
                f"{len(taught)} of {counted(len(known), 'question')} with answers and supporting passages in {kb.path}"
            )
        held_back = [*chain.from_iterable(taught[::_HELD_BACK])]
        lessons = [lesson for place, some in enumerate(taught) if place % _HELD_BACK for lesson in some]
        with tqdm(total=epochs * batches_of(lessons), desc="training", unit="batch", disable=hidden(progress)) as bar:
            before, after = fit(model, family_of(folder.name), lessons, held_back, epochs=epochs, each_batch=bar.update)
        if after == before:
            raise RagError(
                f"no epoch ranked the {counted(len(held_back), 'step')} held back better than the untrained model did "
                f"(mean reciprocal rank {before.reciprocal:.3f}): no aligner was written; give more questions or epochs"
            )
        with writing(folder):
            _save(model, written)
    return Trained(folder, len(known), len(taught), len(lessons) + len(held_back), before, after)


async def _taught(
    llm: ChatModel, kb: KnowledgeBase, questions: Sequence[Question], concurrency: int, bar: Any
) -> list[list[Lesson]]:
    """Return the lessons of each question; none if its chain does not reach the answer, or cannot be parsed."""

    async def lessons(question: Question) -> list[Lesson]:
        try:
            built = await reasoning_chain(llm, kb, question["question"], question["answers"], _support(question))
        except (ModelOutputError, RequestRefusedError):
            built = []
        taught = await lessons_of(kb, question["question"], built)
        bar.update()
        return taught

    return await map_limited(lessons, questions, concurrency)


def _support(question: Question) -> list[str]:
    return question.get("supporting_ids", [])


def _model(base: str, device: str) -> Any:
    """Load the model to start from."""
    try:
        import sentence_transformers  # noqa: F401 - which the model needs, too

        from langgraph_rag.tools.ingest.encoders import read_model
    except ImportError as error:
        raise MissingExtraError("training an aligner", "minilm") from error
    source = str(packaged_minilm()) if base == MINILM else base
    model = read_model(source, family_of(Path(base).name).pooling)
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:
        raise RagError(f"an aligner cannot be trained on device {device!r}: {error}") from error


def _save(model: Any, folder: Path) -> None:
    from langgraph_rag.tools.ingest.encoders import without_bar

    with without_bar():
        model.to(CPU).save(str(folder), create_model_card=False)
