"""The knowledge base: one object for one folder. Vectors and graphs are derived from the stored records."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.embeddings import Embeddings

from langgraph_rag.arguments import expect
from langgraph_rag.characters import is_text
from langgraph_rag.concurrency.background import run_in_background
from langgraph_rag.context import DEFAULT_SEARCH, Search
from langgraph_rag.errors import KnowledgeBaseError
from langgraph_rag.filters import Where
from langgraph_rag.records import FoundPassage, Passage, Record, ScoredPassage, Triple, titled_text
from langgraph_rag.tools.facts.extraction import TripleExtractor, expect_extractor, extractor_with, last_extractor
from langgraph_rag.tools.index.derived_graphs import DerivedGraphs
from langgraph_rag.tools.index.entity_graph import EntityGraph, TripleGraph
from langgraph_rag.tools.index.hierarchy_graph import HierarchyGraph
from langgraph_rag.tools.ingest.embedder import Embedder, fingerprint_of
from langgraph_rag.tools.ingest.embeddings import last_embedder
from langgraph_rag.tools.ingest.indexing import (
    LAST_EXTRACTOR,
    SPLITTING,
    TEXT_PIPELINE,
    UNREAD,
    Added,
    Editor,
    Indexer,
    Loaded,
    Updated,
)
from langgraph_rag.tools.ingest.lazy_facts import TripleReader
from langgraph_rag.tools.ingest.splitting import Splitter, Splitting, label_of, last_splitting
from langgraph_rag.tools.ingest.stages import AnyDocument, Row, checked_rows, to_passages
from langgraph_rag.tools.ingest.text import default_pipeline, text_pipeline
from langgraph_rag.tools.retrieve.reads import Reads
from langgraph_rag.tools.retrieve.search import (
    RequestQueue,
    Searcher,
    Similarity,
    checked_names,
    names_among,
)
from langgraph_rag.tools.stores.chroma import checked_address
from langgraph_rag.tools.stores.metadata import StoredDocument
from langgraph_rag.tools.stores.opening import Stores, open_stores
from langgraph_rag.tools.stores.protocols import Matrix
from langgraph_rag.tools.stores.records import FORMAT, Counts, Records
from langgraph_rag.tools.stores.vector_files import Collections

T = TypeVar("T")


class Info(Counts):
    """The contents and the configuration of a knowledge base.

    `aligner` says whether it has a trained one for KiRAG. `splitting` is how documents are split now, and
    `passages_split_otherwise` counts those that were split with other settings, by other code or for another embedder,
    until their sources are updated.
    """

    path: str
    embeddings: str
    splitting: str
    passages_split_otherwise: int
    extractor: str
    text_pipeline: str
    aligner: bool
    vectors: str
    format: int


class KnowledgeBase(Reads):
    """Passages with their vectors, sentences, phrases and triples, in one folder or in Postgres. Open one with `open`.

    Attributes:
        path: the folder; for one in Postgres, that of its indexes on this machine.
        name: where it is, for people: the folder, or the server and its name there.
    """

    def __init__(
        self, stores: Stores, embeddings: Embeddings, extractor: TripleExtractor, pipeline: str | None = None
    ) -> None:
        access, records, vectors = stores.access, stores.records, stores.vectors
        embedder, comparing = Embedder(stores.name, embeddings, records), RequestQueue()
        similarity = Similarity(embedder, vectors, records, comparing)
        graphs = DerivedGraphs(records, stores.folder.resolve(), stores.may_index)
        searcher = Searcher(records, similarity, graphs.entities, comparing, embedder.searches_at_once)
        self._indexer = Indexer(
            records, vectors, similarity, embedder, access.check_not_closing, self._keep_graphs, pipeline
        )
        reader = TripleReader(records, self._indexer.load, access.check_not_closing)
        super().__init__(stores, embedder, similarity, graphs, searcher, reader, extractor)
        self._editor = Editor(records, self._indexer, reader, embedder)
        self._pipeline, self._copy = pipeline, stores.copy
        self._splitting: Splitting | None = None
        self._resources = ExitStack()  # released in reverse order
        for long in (self._graph_making, self._triple_indexing):  # their running work fails when the others close
            self._resources.callback(long.close)
        self._resources.callback(records.close)
        self._resources.callback(lambda: graphs.close(self.extractor.version))
        for held in (vectors, self._reads, comparing):
            self._resources.callback(held.close)

    @classmethod
    def open(
        cls,
        path: str | Path,
        embeddings: Embeddings | None = None,
        *,
        extractor: TripleExtractor | None = None,
        create: bool = True,
        chroma: str | None = None,
        vectors: Collections | None = None,
        name: str | None = None,
        read_only: bool = False,
        splitting: Splitting | None = None,
        pipeline: str | None = None,
    ) -> "KnowledgeBase":
        """Open the knowledge base in a folder; create an empty one if there is none.

        Several processes can search a knowledge base at the same time. Only one can change it: the first that opens it
        without `read_only`, until it closes it.

        Args:
            path: the folder. Nothing outside it is written, except vectors on a server. Or the address of a Postgres
                server with pgvector, as `postgresql://user@host/database`: it may be changed by several processes at
                the same time, and each machine keeps indexes of it in a cache (`LANGGRAPH_RAG_CACHE`).
            embeddings: any LangChain embedder, by default all-MiniLM-L6-v2. It must be the one that the knowledge base
                was created with. Methods that embed nothing (`info`, `delete`) work without it.
            extractor: extracts triples from passages; by default the one that goes with the pipeline
                (`ParseExtractor`, or `RuleExtractor`). If another extractor was used last, its triples are used, and it
                must be passed again to add passages.
            create: whether to create a missing folder.
            chroma: where to store the vectors: the address of a Chroma server, or "folder". The default is the last
                place, at first the folder. In a new place, the vectors are created again.
            vectors: where to store the vectors of a folder instead, such as in a LangChain `VectorStore`.
            name: the name of a knowledge base in Postgres, by default "default": each has a schema of its own there.
            read_only: open for reading, so that another process can make changes; the folder must exist. Data that
                questions create, such as vectors of triples, is still stored. On a read-only volume, records and
                vectors are copied to a temporary folder, until it is closed: changes by others are not seen there.
            splitting: how documents without ids are split into passages; by default as the last ones, at first into
                passages of at most 240 tokens. What was split otherwise is split anew when its source is updated.
            pipeline: finds phrases and facts: the name of an installed spaCy pipeline for English, or "rules". The
                default is the last one, at first `en_core_web_sm` if it is installed, or else the rules.

        Raises:
            ValueError: when passages of that size are longer than what the embedder reads.
            KnowledgeBaseError: when the path is empty, the folder is missing and must not be created, cannot be read
                or written, has other contents or another format, when the server cannot be reached, or the pipeline is
                not installed or not the one that analysed the passages.
            EmbeddingsMismatchError: when the knowledge base was created with another embedder.
            TypeError: when the path, the embedder or the extractor is of another type.
        """
        expect(Embeddings | None, embeddings, "an embedder (LangChain Embeddings)", "load_embeddings(NAME) returns one")
        if extractor is not None:
            expect_extractor(extractor)
        expect(Splitting | None, splitting, "a Splitting", "Splitting(size=150) is one")
        expect(Collections | None, vectors, "two collections of vectors", "Collections(passages, facts, NAME) are")
        place = None if chroma is None else checked_address(chroma)
        with ExitStack() as opened:  # closes everything again after an error
            stores = open_stores(
                path, opened, create=create, read_only=read_only, name=name, chroma=place, vectors=vectors
            )
            records = stores.records
            kb = cls(
                stores,
                embeddings or last_embedder(records.meta("embeddings")),
                extractor or _extractor(records, pipeline),
                _checked(pipeline, records, stores.name),
            )
            records.written_by(stores.may_index)
            kb._embedder.check()
            if splitting:
                kb.splitting = splitting
            if not kb._indexer.in_step():
                kb._access.if_free(kb._indexer.repair)  # running writes look like damage
            if stores.listen:
                stores.listen(kb._catch_up)
            opened.pop_all()
        return kb

    @property
    def splitting(self) -> Splitting:
        """How documents are split into passages; it can be replaced.

        Raises:
            ValueError: when passages of the new size are longer than what the embedder reads.
            TypeError: when the new one is not a `Splitting`.
        """
        return self._splitting or last_splitting(self._records.meta(SPLITTING))

    @splitting.setter
    def splitting(self, splitting: Splitting) -> None:
        expect(Splitting, splitting, "a Splitting", "Splitting(size=150) is one")
        self._splitter = Splitter(self._embedder.tokens, splitting)
        self._splitting = splitting

    def close(self) -> None:
        """Finish running work and release the files; in a forked process, only mark it as closed.

        A change in another thread stops after its current passages and raises a `KnowledgeBaseError` there.
        """
        self._access.end(self._resources.close)
        if self._copy is not None:
            self._copy.cleanup()

    def __repr__(self) -> str:
        return f"KnowledgeBase({self.name!r})"

    def __enter__(self) -> "KnowledgeBase":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- writing -----------------------------------------------------------------------------------------------------
    def add(
        self,
        documents: Iterable[AnyDocument],
        *,
        vectors: Mapping[str, Matrix] | None = None,
        progress: bool = True,
    ) -> Added:
        """Add documents, and extract their triples.

        Documents that are already stored are skipped. To finish an interrupted call, call again.

        Args:
            documents: LangChain `Document`s, or dicts with `text` and, optionally, `id`, `title` and `source`; other
                fields are stored as metadata. A document without an id is split into passages (see `open`).
            vectors: vectors of unit length that the same embedder made of the passages before, by id, such as those of
                an export. If the first one is not that of its text, all are made anew, with a warning.
            progress: whether to show the progress on the standard error.

        Returns:
            The ids of the passages, and how many were added, were stored before, have no triples, or could not be read.

        Raises:
            DocumentError: when a document is empty or not a document; nothing is stored.
            DuplicateIdError: when the same id has another text in the call or in the knowledge base; nothing is stored.
            KnowledgeBaseError: when another process has opened the knowledge base for changes, or the spaCy model that
                found its phrases is not installed.
            EmbedderError: when the embedder cannot be asked; `EmbeddingsMismatchError` when it is another one.
            ModelCallError: when the model of the extractor cannot be called; the passages are stored.
            TypeError: when a single document is passed instead of a list.
        """
        return self._edit(self._editor.add, documents, progress=progress, vectors=vectors or {})

    def update(self, documents: Iterable[AnyDocument], *, progress: bool = True) -> Updated:
        """Add the new versions of whole sources, and remove passages of their earlier versions.

        A passage whose id is stored with another text or title is replaced; metadata that differ are replaced, too. A
        stored passage of one of these sources is removed if no document of the source contains it any more, unless it
        also comes from another source. To change single documents, use `upsert`. To finish an interrupted call, call
        again.

        Args:
            documents: as in `add`, with all documents of each source in one call.
            progress: whether to show the progress on the standard error.

        Returns:
            The result of `add`, and how many passages were removed; a replaced one counts as added and removed.

        Raises:
            DuplicateIdError: when an id is passed with two texts; nothing is changed.
            DocumentError, EmbedderError, KnowledgeBaseError, ModelCallError, TypeError: as in `add`.
        """
        return self._edit(self._editor.update, documents, progress=progress)

    def upsert(self, documents: Iterable[AnyDocument], *, progress: bool = True) -> Updated:
        """Add documents, and replace stored ones with the same ids; nothing else is removed.

        Args:
            documents: as in `add`. The id of a document without one is derived from its text, so a new version is added
                beside the old one.
            progress: whether to show the progress on the standard error.

        Returns:
            The result of `update`.

        Raises:
            DocumentError, DuplicateIdError, EmbedderError, KnowledgeBaseError, ModelCallError, TypeError: as in
                `update`.
        """
        return self._edit(self._editor.upsert, documents, progress=progress)

    def load(self, rows: "Sequence[Row] | Any") -> Loaded:
        """Store passages that the stages split, analysed, embedded and read before, here or elsewhere.

        Those that are stored already are skipped, and replaced if their text or title differs, so that the same rows
        can be loaded again after an interruption. Facts are optional: what is unread is read by the next `add`. Rows
        without vectors are of passages stored before: their facts, metadata and places are stored.

        Args:
            rows: rows of all stages (`langgraph_rag.tools.ingest.stages.Row`), or an Arrow table of them; a row with an
                `error` is left out and counted.

        Raises:
            DocumentError: when a row lacks what a stage fills; nothing is stored.
            EmbeddingsMismatchError: when the vectors are not as of the embedder of the knowledge base.
            KnowledgeBaseError: when another process has opened the knowledge base for changes, or another text pipeline
                analysed the passages.
        """
        self._access.check_writable()
        checked = checked_rows(rows)
        with self._access.changing():
            return self._editor.load(checked)

    def settle_loaded(self, withdrawn: Mapping[str, Sequence[str]] | None = None) -> int:
        """End a series of calls of `load`: note what the extractor has not read, and remove what left its source.

        Args:
            withdrawn: by source, the ids of the passages that do not come from there any more.

        Returns:
            The number of passages that were removed, as they come from nowhere else.
        """
        self._access.check_writable()
        with self._access.changing():
            removed = sum(self._editor.withdraw(ids, source) for source, ids in (withdrawn or {}).items())
            self._editor.note_unread(self.extractor.version)
        return removed

    def outdated(self, documents: Iterable[AnyDocument]) -> list[str]:
        """Return the ids of the passages that `update` would remove, without those that it would replace.

        Raises:
            DocumentError, DuplicateIdError, TypeError: as in `update`, for the same documents.
        """
        self._access.check_open()
        return self._editor.outdated(self.split(documents))

    def contested(self, documents: Iterable[AnyDocument]) -> list[str]:
        """Return the ids that also come from other sources and whose text or title `update` would change.

        Raises:
            DocumentError, DuplicateIdError, TypeError: as in `update`, for the same documents.
        """
        self._access.check_open()
        return self._editor.contested(self.split(documents))

    def split(self, documents: Iterable[AnyDocument]) -> list[Passage]:
        """Return the passages that `add` makes of documents; each can be added as a document again.

        Raises:
            DocumentError, DuplicateIdError, TypeError: as in `add`.
        """
        self._access.check_open()
        return to_passages(documents, self._splitter)

    def delete(self, ids: Iterable[str] = (), *, sources: Iterable[str] = ()) -> int:
        """Remove passages, with all sentences, phrases, triples and vectors that come only from them.

        Args:
            ids: passages to remove, from any source.
            sources: sources to remove; passages that also come from another source stay.

        Returns:
            The number of removed passages.

        Raises:
            KnowledgeBaseError: when another process has opened the knowledge base for changes.
            TypeError: when a single id or source is passed instead of a list.
        """
        ids, sources = names_among(ids, "ids"), names_among(sources, "sources")
        with self._access.changing():
            removed = self._editor.delete(ids, sources)
            self._keep_graphs()
            return removed

    def add_names(self, names: Mapping[str, str]) -> None:
        """Give entities other names, such as `{"KH": "Kestrel Holdings"}`; `remove_names` takes them back.

        Facts, graphs and searches use the entity in place of its names, also in passages that are added later. No
        passage is read again, and no text is changed.

        Args:
            names: the entity of each name; case and punctuation make no difference. An existing name gets the new one.

        Raises:
            ValueError: when a name or an entity has no letters or digits, both are the same, two names differ only in
                case or punctuation, or a name leads back to itself; nothing is stored.
            KnowledgeBaseError: when another process has opened the knowledge base for changes.
        """
        names = checked_names(names)
        with self._access.changing():
            self._editor.give_names(names)

    def remove_names(self, names: Iterable[str]) -> None:
        """Remove names that `add_names` gave; unknown ones are left out.

        Raises:
            KnowledgeBaseError: when another process has opened the knowledge base for changes.
            TypeError: when a single name is passed instead of a list.
        """
        names = names_among(names, "names")
        with self._access.changing():
            self._editor.take_names(names)

    def embed_triples(self, *, progress: bool = True) -> int:
        """Embed all triples now instead of when a question first needs them; return how many were embedded.

        `progress` shows the progress on the standard error.

        Raises:
            EmbedderError: when the embedder cannot be asked.
        """
        self._access.check_open()
        return self._triple_embedding.embed(self.extractor.version, progress=progress)

    # --- reading -----------------------------------------------------------------------------------------------------
    def search(
        self, query: str, k: int = 10, *, by: Search = DEFAULT_SEARCH, filter: Where | None = None
    ) -> list[FoundPassage]:
        """Return the passages that match a query best, best first.

        Args:
            query: a question or any other text; only its first 4,000 characters count, as in all searches.
            k: the maximum number of passages.
            by: "dense" searches by meaning, "bm25" by words, "hybrid" by both, and "graph", the default, by both and a
                walk over the triple graph.
            filter: conditions on metadata, title or source, as for `read_filter`: everything is as if only the passages
                that it lets through were stored. A `filter` in the settings of the current run holds, too.

        Returns:
            Passages, each with its `score`; compare scores only within one list. The score is the cosine similarity
                with "dense", the BM25 score with "bm25", and at most 1 with "hybrid" and "graph": both scores, each
                relative to the first passage and the 50th, and with "graph" also the PageRank of the walk.

        Raises:
            ValueError: when `k` is not a whole number of at least 1.
            UnknownNameError: when the search `by` does not exist.
            QuestionError: when the query is not text.
            EmptyKnowledgeBaseError: when the knowledge base is empty.
            EmbeddingsMismatchError: when the knowledge base was created with another embedder; "bm25" needs none.
            EmbedderError: when the embedder cannot be asked.
            FilterError: when no passage has a field of the filter, or its values there are of another kind.
        """
        return run_in_background(self.asearch(query, k, by=by, filter=filter))

    def warm_up(self, by: Search = DEFAULT_SEARCH, *, filter: Where | None = None) -> None:
        """Load the embedder and what a search needs, so that the time of the first question does not include it.

        Raises:
            RagError: as `search` does.
        """
        first: Search = "dense"
        for search in dict.fromkeys((first, by)):
            self.search("warm up", 1, by=search, filter=filter)

    def triples(self, passage_ids: Iterable[str], extractor: TripleExtractor | None = None) -> list[Triple]:
        """Return the triples of passages; if they were not extracted yet, they are extracted now and stored.

        Args:
            passage_ids: ids of passages; unknown ones are left out.
            extractor: the extractor of the triples; by default that of the knowledge base.

        Returns:
            Triples with all their sources among these passages.

        Raises:
            ModelCallError: when triples must be extracted and the model of the extractor cannot be called.
            TypeError: when a single id is passed instead of a list, or another object as an extractor.
        """
        return run_in_background(self.atriples(passage_ids, extractor))

    def search_triples(self, query: str, k: int = 10, *, filter: Where | None = None) -> list[Triple]:
        """Return the triples most similar to a query, best first, without scores.

        The first call embeds all triples that have no vector yet.

        Args:
            query: a question or any other text.
            k: the maximum number of triples.
            filter: as in `search`; the passages that it hides are no sources either.

        Raises:
            ValueError: when `k` is not a whole number of at least 1.
            QuestionError: when the query is not text.
            EmbedderError: when the embedder cannot be asked.
            FilterError: as in `search`.
        """
        return run_in_background(self.asearch_triples(query, k, filter=filter))

    def near_entities(self, texts: Sequence[str], k: int = 10, *, filter: Where | None = None) -> list[ScoredPassage]:
        """Return the passages nearest to the entities in some texts, by personalized PageRank over the triples.

        Args:
            texts: texts with names of entities, such as questions or single names.
            k: the maximum number of passages.
            filter: as in `search`; the facts of the passages that it hides lead nowhere.

        Returns:
            Ids of passages, best first, each with its PageRank as `score`; none if the texts have no known entity.

        Raises:
            EmptyKnowledgeBaseError: when the knowledge base is empty.
            ValueError: when `k` is not a whole number of at least 1.
            TypeError: when a single text is passed instead of a list.
            QuestionError: when an item of the list is not text.
            FilterError: as in `search`.
        """
        return run_in_background(self.anear_entities(texts, k, filter=filter))

    def facts_about(
        self, entity: str, *, hops: int = 1, most: int = 1_000, filter: Where | None = None
    ) -> list[Triple]:
        """Return the facts that name an entity, and with more hops also those that name what these lead to, and so on.

        Args:
            entity: one of its names, in any case; or a text with names, such as a question.
            hops: how many facts lie between the entity and the farthest facts, at most, these included.
            most: the maximum number of facts, nearest first.
            filter: as in `search`.

        Returns:
            Facts with their sources: of each entity first those that name it as head, then only as tail; none of an
                unknown one.

        Raises:
            ValueError: when `hops` or `most` is not a whole number of at least 1.
            QuestionError: when the entity is blank or not text.
            FilterError: as in `search`.
        """
        return run_in_background(self.afacts_about(entity, hops=hops, most=most, filter=filter))

    def passages(self, ids: Iterable[str], *, filter: Where | None = None) -> list[Record]:
        """Return passages with their sentences and phrases, each once, in the order of the ids, but for unknown ids.

        With a `filter`, as in `search`, those that it hides are left out, too.
        """
        if filter:
            return run_in_background(self.apassages(ids, filter=filter))
        ids = names_among(ids, "ids")
        self._access.check_open()
        return self._records.passages(ids)

    def hashes(self, ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return the hash of title and text of each stored passage, or of those among `ids`, by id."""
        some = None if ids is None else names_among(ids, "ids")
        self._access.check_open()
        return self._records.hashes(some)

    def vectors(self, ids: Iterable[str]) -> dict[str, Matrix]:
        """Return the vectors of passages by id, of unit length; unknown ids are left out. Shape of each: dimensions."""
        ids = names_among(ids, "ids")
        self._access.check_open()
        return self._vectors.passages(ids)

    def ids(self, source: str | Path | None = None) -> list[str]:
        """Return the ids of all passages, or of those from one source ("": without a source).

        Those from one source are in the order of their document, all in the order of storing: in one call of `add` or
        `update`, the longest new passages are stored first.
        """
        self._access.check_open()
        source = None if source is None else str(source)
        return [] if source is not None and not is_text(source) else self._records.ids(source)

    def neighbours(self, id_: str, *, before: int = 1, after: int = 1) -> list[Record]:
        """Return the passages before and after a passage in its document, in order, without itself.

        Fewer are returned at the beginning and the end of a document, none of an unknown passage. While a document is
        updated, those of its earlier version are returned until the new ones are all stored.

        Args:
            id_: the id of the passage.
            before: the most passages before it.
            after: the most passages after it.

        Raises:
            ValueError: when a number is no whole number from 0 on.
        """
        return run_in_background(self.aneighbours(id_, before=before, after=after))

    def names(self) -> dict[str, str]:
        """Return the entity of each name that `add_names` gave."""
        self._access.check_open()
        return self._records.triples.names.all()

    def sources(self) -> list[str]:
        """Return the sources of all passages, in alphabetical order."""
        self._access.check_open()
        return self._records.origins.sources()

    def documents(self) -> list[StoredDocument]:
        """Return the documents of all passages: one for each source, and one for each title without a source."""
        self._access.check_open()
        return self._records.origins.documents()

    @property
    def graph(self) -> TripleGraph:
        """The graph of all triples, built on first use and updated after changes."""
        self._access.check_open()
        return self._graphs.triples(self.extractor.version)

    @property
    def entities(self) -> EntityGraph:
        """The graph of all entities for PageRank, updated after changes of facts."""
        self._access.check_open()
        return self._graphs.entities(self.extractor.version)

    @property
    def hierarchy(self) -> HierarchyGraph:
        """The graph of passages, sentences and phrases, updated after changes of passages."""
        self._access.check_open()
        return self._graphs.hierarchy()

    def info(self) -> Info:
        """Return the contents and the configuration of the knowledge base."""
        self._access.check_open()
        return Info(
            path=self.name,
            **self._records.counts(self.extractor.version),
            embeddings=self._embedder.made_with,
            splitting=str(self.splitting),
            passages_split_otherwise=self._records.places.split_otherwise(self._splitting_label),
            extractor=self.extractor.version,
            text_pipeline=self._pipeline or self._records.meta(TEXT_PIPELINE) or default_pipeline(),
            aligner=self.aligner.is_dir(),
            vectors=self._vectors.name,
            format=FORMAT,
        )

    @property
    def is_there(self) -> bool:
        """Whether the folder still has the files that were opened; they can be asked also after it was moved."""
        return self._access.is_there

    def fingerprint(self) -> str:
        """Return a short digest of passages, given names, embedder, extractor and aligner; it changes only if these do.

        Adding the same documents again does not change it, nor does data that questions create.
        """
        self._access.check_open()
        unread = json.loads(self._records.meta(UNREAD + self.extractor.version) or "[]")
        made_by = f"{self._embedder.made_with}, {self.extractor.version}"
        return fingerprint_of(self._records.hashes(), unread, self.names(), made_by, self._embedder.mark, self.aligner)

    def without_triples(self, ids: Iterable[str]) -> list[str]:
        """Return the passages among `ids` that were read and have no triples.

        Raises:
            TypeError: when a single id is passed instead of a list.
        """
        ids = names_among(ids, "ids")
        self._access.check_open()
        return self._records.triples.none_found_in(ids, self.extractor.version)

    # --- internals ---------------------------------------------------------------------------------------------------
    def _catch_up(self) -> None:
        """Bring what is derived from the records up to date, so that the next question need not."""
        with suppress(Exception):  # closed meanwhile, or away: the next question catches up, and tells what is wrong
            self._records.words.now()
            if self._walked:
                self._graphs.entities(self.extractor.version)

    def _keep_graphs(self) -> None:
        """Have files written of the graphs, if much has changed."""
        self._graphs.keep(self.extractor.version)

    @cached_property
    def _splitter(self) -> Splitter:
        return Splitter(self._embedder.tokens, self.splitting)

    @property
    def _splitting_label(self) -> str:
        """The label of the present splitting; the embedder, which may not be given, is not asked for its limit."""
        *_, limit = (self._records.meta(SPLITTING) or "").split(" ")
        return label_of(self.splitting, limit)

    def _edit(
        self,
        edit: Callable[..., T],
        documents: Iterable[AnyDocument],
        *,
        progress: bool,
        vectors: Mapping[str, Matrix] | None = None,
    ) -> T:
        self._access.check_writable()  # before the documents are read, which may take long
        given = self.split(documents)
        known = {titled_text(one): vectors[one["id"]] for one in given if one["id"] in vectors} if vectors else {}
        with self._access.changing(), self._embedder.knowing(known):
            self._records.set_meta(SPLITTING, self._splitter.label)
            done = edit(given, self.extractor, progress=progress)
            self._keep_graphs()
            return done


def _checked(pipeline: str | None, records: Records, path: str) -> str | None:
    """Return a text pipeline that was asked for, if it is there and also that of the stored passages."""
    made_with = records.meta(TEXT_PIPELINE)
    if pipeline is not None:
        text_pipeline(pipeline)
        if made_with not in (None, pipeline) and records.count():
            raise KnowledgeBaseError(
                f"the phrases in {path} were found by the text pipeline {made_with}, not by {pipeline}: index the "
                "documents into another folder, or leave the pipeline out"
            )
    return pipeline


def _extractor(records: Records, pipeline: str | None) -> TripleExtractor:
    """Return the extractor of a pipeline that was asked for, or else the last one."""
    last = records.meta(LAST_EXTRACTOR) or records.triples.most_read_by()
    if pipeline is None and last:
        return last_extractor(last)
    return extractor_with(pipeline or records.meta(TEXT_PIPELINE) or default_pipeline())
