"""MGranRAG's contextual hierarchical graph of passages, sentences and phrases, in arrays that may lie on disk."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TypeVar

import numpy as np

from langgraph_rag.normal_forms import apart, normalise
from langgraph_rag.records import Record
from langgraph_rag.tools.index.pagerank import Array, EdgeChanges, Ids, PageRankGraph, Rows
from langgraph_rag.tools.index.tables import (
    NO_NAMES,
    ListedTexts,
    Names,
    NodeSpace,
    PartOfNames,
    Passages,
    PassageTable,
    Stored,
    Texts,
    alike,
    between,
    columns_of,
    name_tables,
    numbering,
    walk_arrays,
    walk_rows,
)

_BRACKETS = re.compile(r"\s*\([^()]*\)")
_SIMILAR = 10  # phrases at most
_READ = 20  # passages at once in which a phrase is looked for as it is spelled
_PASSAGES, _SENTENCES, _PHRASES = 0, 1, 2  # kinds of nodes
ReadRecords = Callable[[Sequence[str]], Sequence[Record]]
"""Returns passages by id."""
Said = tuple[str, list[str]]
"""A sentence, and the normal forms of the phrases in it."""
T = TypeVar("T")


@dataclass(frozen=True)
class Contents:
    """The sentences of one passage in order, each with its phrases."""

    id: str
    number: int
    said: Sequence[Said]


@dataclass(frozen=True)
class HierarchyData:
    """The sentences and phrases of passages as numbers.

    `stands_of` and `says_of` say where the rows of each passage begin, and the end. `sentences` are the hashes of the
    texts, ascending.
    """

    ids: Texts
    numbers: Array
    sentences: Array
    phrases: PartOfNames
    stands_of: Array
    stands: Array
    says_of: Array
    saying: Array
    phrase: Array


@dataclass(frozen=True)
class HierarchyGraph:
    """Nodes are numbers: of passages by id, sentences by text, phrases by normal form. Edges mean "contains".

    A sentence in several passages is one node, and so are all spellings of a phrase with one normal form. The title
    belongs to the first sentence. The graph never changes; after the records change, a new one is made.
    """

    passages: Passages
    walk: PageRankGraph
    """Undirected and unweighted."""
    _rows: "HierarchyRows"  # of the newest state
    _missing: frozenset[int]
    _space: NodeSpace
    _read: ReadRecords

    @cached_property
    def sentences(self) -> "Nodes":
        """The nodes of sentences by text; they are known by hash only, so that they cannot be listed."""
        return Nodes(self, _SENTENCES, self._rows.sentence)

    @cached_property
    def phrases(self) -> "Nodes":
        """The nodes of phrases by normal form."""
        return Nodes(self, _PHRASES, lambda phrase: int(self._rows.phrases.find([phrase])[0]))

    def has(self, phrase: str) -> bool:
        """Return whether a phrase is known, independent of case and punctuation."""
        return normalise(phrase) in self.phrases

    def linked(self, sentence: int, phrase: int) -> bool:
        """Return whether a sentence contains a phrase (both are nodes); the phrase may be unknown."""
        return phrase in self.walk.neighbours(sentence)

    def similar(self, text: str) -> list[str]:
        """Return the phrases that share at least half of the words and all numbers with a text, best first.

        They are spelled as in the first passage that has them, which is read for that.
        """
        form, names = normalise(text), self._rows.phrases
        shares = alike(names, form, self._missing, self._is_phrase)
        found = {names[row]: share for row, share in shares.items() if _numbers(names[row]) == _numbers(form)}
        best = sorted(found, key=lambda phrase: (-found[phrase], phrase))[:_SIMILAR]
        return [self.spelling(phrase) for phrase in best]

    def spelling(self, form: str) -> str:
        """Return a phrase as it is spelled in the first passage that has it."""
        sentences = self.walk.neighbours(self.phrases[form])
        above = [self.walk.neighbours(node) for node in sentences.tolist()]
        passages = self.passages.ids_of(np.unique(np.concatenate(above)))
        for start in range(0, len(passages), _READ):
            for record in self._read(passages[start : start + _READ]):
                if any(form in phrases for _, phrases in said_in(record)):
                    return _forms(record)[form]
        return form  # the passage was changed meanwhile

    def _is_phrase(self, row: int) -> bool:
        node = self._space.node(_PHRASES, row)
        return node < self.walk.size and self.walk.has_edges(node)


class Nodes(Mapping[str, int]):
    """The nodes of one kind in a graph by text."""

    def __init__(self, graph: HierarchyGraph, kind: int, row: Callable[[str], int]) -> None:
        self._graph, self._kind, self._row = graph, kind, row

    def __getitem__(self, text: str) -> int:
        row = self._row(text)
        node = self._graph._space.node(self._kind, row) if row >= 0 else self._graph.walk.size
        if node >= self._graph.walk.size or not self._graph.walk.has_edges(node):
            raise KeyError(text)
        return node

    def __iter__(self) -> Iterator[str]:
        if self._kind != _PHRASES:
            raise TypeError("sentences are known by hash only")
        phrases = self._graph._rows.phrases
        return (phrases[row] for row in range(len(phrases)) if self._graph._is_phrase(row))

    def __len__(self) -> int:
        graph = self._graph
        rows = range(graph._rows.size(self._kind))
        nodes = (graph._space.node(self._kind, row) for row in rows)
        return sum(node < graph.walk.size and graph.walk.has_edges(node) for node in nodes)


class HierarchyRows:
    """The sentences and phrases of passages; the newest of each passage."""

    def __init__(self, stored: Stored, phrases: PartOfNames | None = None) -> None:
        texts, self._arrays = stored.texts, stored.arrays
        self.passages = PassageTable(texts["ids"], self._arrays["numbers"])
        self.phrases = Names.stored(stored) if phrases is None else phrases
        self.missing: frozenset[int] = frozenset()
        """Phrases that no passage has any more."""
        self._stored = len(texts["ids"])
        self._sentences: dict[int, int] = {}  # by hash
        self._hashes: list[int] = []
        self._stands: dict[int, Sequence[tuple[int]]] = {}
        self._says: dict[int, Sequence[tuple[int, int]]] = {}

    def size(self, kind: int) -> int:
        """Return the number of rows of a kind of nodes."""
        sentences = len(self._arrays["sentences"]) + len(self._hashes)
        return (len(self.passages), sentences, len(self.phrases))[kind]

    def sentence(self, text: str) -> int:
        """Return the row of a sentence; -1 if it is unknown."""
        hash_ = _hash(text)
        place = int(np.searchsorted(self._arrays["sentences"], np.uint64(hash_)))
        if place < len(self._arrays["sentences"]) and self._arrays["sentences"][place] == np.uint64(hash_):
            return place
        return self._sentences.get(hash_, -1)

    def stands(self, passage: int) -> list[int]:
        """Return the sentences of a passage."""
        if passage in self._stands:
            return [sentence for (sentence,) in self._stands[passage]]
        return self._between(passage, "stands_of", "stands")

    def says(self, passage: int) -> list[tuple[int, int]]:
        """Return which sentences of a passage have which phrases."""
        if passage in self._says:
            return list(self._says[passage])
        sentences, phrases = (self._between(passage, "says_of", column) for column in ("saying", "phrase"))
        return list(zip(sentences, phrases, strict=True))

    def numbered(self, given: Sequence[Contents]) -> list[tuple[list[tuple[int]], list[tuple[int, int]]]]:
        """Return the sentences of passages, and the phrases in them, as numbers; new ones get rows."""
        forms = dict.fromkeys(phrase for one in given for _, phrases in one.said for phrase in phrases)
        phrases = self.phrases.add(forms) if isinstance(self.phrases, Names) else {}
        found = []
        for one in given:
            sentences = {text: self._numbered(text) for text, _ in one.said}
            says = {(sentences[text], phrases[phrase]): None for text, some in one.said for phrase in some}
            found.append(([(row,) for row in dict.fromkeys(sentences.values())], list(says)))
        return found

    def put(self, passage: int, stands: Sequence[tuple[int]], says: Sequence[tuple[int, int]]) -> None:
        """Replace the sentences of a passage, and the phrases in them."""
        self._stands[passage], self._says[passage] = stands, says

    def data(self, passages: Ids) -> HierarchyData:
        """Return the sentences and phrases of some passages (rows, ascending)."""
        stands_of, stands = columns_of(passages, self._stored, self._stands, self._arrays, "stands_of", ("stands",))
        says_of, saying, phrase = columns_of(
            passages, self._stored, self._says, self._arrays, "says_of", ("saying", "phrase")
        )
        sentences, phrases = numbering(self.size(_SENTENCES), stands), numbering(len(self.phrases), phrase)
        new = np.array(self._hashes, np.uint64)
        hashes = np.concatenate([self._arrays["sentences"], new])[sentences[0]]
        order = np.argsort(hashes)
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        ids, numbers = self.passages.part(passages)
        return HierarchyData(
            ids,
            numbers,
            hashes[order],
            PartOfNames(self.phrases, phrases[0]),
            stands_of,
            place[sentences[1][stands]],
            says_of,
            place[sentences[1][saying]],
            phrases[1][phrase],
        )

    def _numbered(self, text: str) -> int:
        row = self.sentence(text)
        if row < 0:
            row = self._sentences[_hash(text)] = self.size(_SENTENCES)
            self._hashes.append(_hash(text))
        return row

    def _between(self, passage: int, starts: str, column: str) -> list[int]:
        if passage >= self._stored:
            return []
        begin, end = int(self._arrays[starts][passage]), int(self._arrays[starts][passage + 1])
        found: list[int] = self._arrays[column][begin:end].tolist()
        return found


class HierarchyIndex:
    """Keeps the hierarchical graph in step with the records; one thread at a time."""

    def __init__(self, stored: Stored | None = None, rows: HierarchyRows | None = None) -> None:
        if stored is None:
            stored, rows = hierarchy_index(NO_PASSAGES)
        self.stored, self.rows = stored, rows or HierarchyRows(stored)
        self._walk = walk_rows(stored.arrays)
        sizes = len(stored.texts["ids"]), len(stored.arrays["sentences"]), len(self.rows.phrases)
        self._space = NodeSpace(*sizes)
        self._edges = EdgeChanges(self._walk)
        self._times: Counter[tuple[int, int]] = Counter()
        self._phrases: Counter[int] = Counter()

    def graph(self, read: ReadRecords) -> HierarchyGraph:
        """Return the graph as it is now; `read` returns its passages."""
        walk = PageRankGraph.of(self._nodes, self._walk, self._edges)
        passages = self.rows.passages.snapshot(self._space)
        return HierarchyGraph(passages, walk, self.rows, self.rows.missing, self._space, read)

    def update(self, ids: Sequence[str], now: Mapping[str, Contents]) -> None:
        """Bring passages up to date: those in `now` are as there, the others are gone."""
        rows, given = self.rows, sorted(now.values(), key=lambda one: one.number)
        known, gone = rows.passages.brought({one.id: one.number for one in given}, ids)
        changed = set[int]()
        for passage in gone:
            changed.update(self._replace(passage, [], []))
        for one, (stands, says) in zip(given, rows.numbered(given), strict=True):
            changed.update(self._replace(known[one.id], stands, says))
        walk = PageRankGraph.of(self._nodes, self._walk, self._edges)
        without = {phrase for phrase in changed if not walk.has_edges(self._space.node(_PHRASES, phrase))}
        rows.missing = rows.missing.union(without).difference(changed - without)

    @property
    def passages(self) -> PassageTable:
        """The passages."""
        return self.rows.passages

    @property
    def grown(self) -> bool:
        """Whether most nodes are new; numbers of removed ones are not given again."""
        return self._nodes > 2 * self._space.stored

    @property
    def _nodes(self) -> int:
        return self._space.size(*map(self.rows.size, (_PASSAGES, _SENTENCES, _PHRASES)))

    def take(self, ids: Sequence[str], now: Mapping[str, Contents]) -> None:
        """Take over what passages contain, without the graph; `made` must follow."""
        given = sorted(now.values(), key=lambda one: one.number)
        known, gone = self.rows.passages.brought({one.id: one.number for one in given}, ids)
        for passage in gone:
            self.rows.put(passage, [], [])
        for one, (stands, says) in zip(given, self.rows.numbered(given), strict=True):
            self.rows.put(known[one.id], stands, says)

    def made(self) -> "HierarchyIndex":
        """Return an index of the same passages without changes in memory."""
        return HierarchyIndex(*hierarchy_index(self.rows.data(self.rows.passages.live())))

    def _replace(self, passage: int, stands: Sequence[tuple[int]], says: Sequence[tuple[int, int]]) -> set[int]:
        """Replace what a passage contains; return the phrases that it had or has."""
        had, said = set(self.rows.stands(passage)), set(self.rows.says(passage))
        has, saying = {sentence for (sentence,) in stands}, set(says)
        node = self._space.node
        for sentence in had ^ has:
            self._edges.add(node(_PASSAGES, passage), node(_SENTENCES, sentence), 1 if sentence in has else -1)
        for link in said ^ saying:
            self._count(link, 1 if link in saying else -1)
        if had != has or said != saying:
            self.rows.put(passage, stands, says)
        return {phrase for _, phrase in said ^ saying}

    def _count(self, link: tuple[int, int], by: int) -> None:
        """Count a passage more or less in which a sentence has a phrase; in another passage, it may not be one."""
        times = self._said(link) + self._times[link]
        self._times[link] += by
        if (times > 0) != (times + by > 0):
            self._edges.add(self._space.node(_SENTENCES, link[0]), self._space.node(_PHRASES, link[1]), by)

    def _said(self, link: tuple[int, int]) -> int:
        arrays = self.stored.arrays
        sentences = between(arrays["said_sentence"], link[0])
        times = arrays["said_times"][sentences][between(arrays["said_phrase"][sentences], link[1])]
        return int(times[0]) if times.size else 0


NO_PASSAGES = HierarchyData(
    *(ListedTexts(), np.empty(0, np.int64), np.empty(0, np.uint64), NO_NAMES),
    *(np.zeros(1, np.int64), np.empty(0, np.int64)),
    *(np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)),
)


def hierarchy_index(data: HierarchyData, part: PartOfNames | None = None) -> tuple[Stored, HierarchyRows]:
    """Return the index of sentences, phrases and the graph for walks, in memory.

    With `part`, which are the phrases, these are found among all; they get no tables of their own.
    """
    phrases = ListedTexts() if part else ListedTexts(data.phrases[row] for row in range(len(data.phrases)))
    of_words, words = name_tables(phrases)
    space = NodeSpace(len(data.ids), len(data.sentences), len(data.phrases))
    passage = np.repeat(np.arange(len(data.ids)), np.diff(data.stands_of))
    links, times = np.unique(data.saying.astype(np.int64) << 32 | data.phrase.astype(np.int64), return_counts=True)
    saying, said = links >> 32, links & 0xFFFFFFFF
    of_sentences, of_phrases = len(data.ids), len(data.ids) + len(data.sentences)
    walk = Rows.from_edges(
        space.stored,
        np.concatenate([passage, saying + of_sentences]),
        np.concatenate([data.stands + of_sentences, said + of_phrases]),
        weighted=False,
    )
    arrays = {
        **{"numbers": data.numbers, "sentences": data.sentences, **of_words},
        **{"stands_of": data.stands_of, "stands": data.stands.astype(np.int32)},
        **{"says_of": data.says_of, "saying": data.saying.astype(np.int32), "phrase": data.phrase.astype(np.int32)},
        **{"said_sentence": saying.astype(np.int32), "said_phrase": said.astype(np.int32)},
        **{"said_times": times.astype(np.int32), **walk_arrays(walk)},
    }
    texts: dict[str, Texts] = {name: ListedTexts(some) for name, some in words.items()}
    stored = Stored(arrays, {**texts, "ids": data.ids, "names": phrases})
    return stored, HierarchyRows(stored, part)


def part_of(rows: HierarchyRows, passages: Ids, read: ReadRecords) -> HierarchyGraph:
    """Return the graph of some passages (rows, ascending), as if there were no others."""
    data = rows.data(passages)
    return HierarchyIndex(*hierarchy_index(data, data.phrases)).graph(read)


def contents_of(record: Record, number: int) -> Contents:
    """Return what a passage contains."""
    return Contents(record["id"], number, said_in(record))


def said_in(record: Record) -> list[Said]:
    """Return the sentences of a passage with the normal forms of its phrases in them; the first has the title."""
    forms = {apart(form): form for form in _forms(record)}
    lengths = _lengths(forms)
    found: list[Said] = []
    for place, sentence in enumerate(record["sentences"]):
        words = normalise(apart(sentence if place else record["title"] + " " + sentence)).split()
        found.append((sentence, sorted({forms[form] for form in _spans(words, lengths) if form in forms})))
    return found


def _forms(record: Record) -> dict[str, str]:
    """Return the phrases of a passage by normal form: the stored ones, and the title with and without brackets."""
    title = record["title"]
    spellings = [title, _BRACKETS.sub("", title), *record["phrases"]]
    return {form: spelling for spelling in reversed(spellings) if (form := normalise(spelling))}


def _lengths(forms: Iterable[str]) -> dict[str, set[int]]:
    """Return the numbers of words of the phrases that begin with each word."""
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for form in forms:
        lengths[form.partition(" ")[0]].add(form.count(" ") + 1)
    return lengths


def _spans(words: Sequence[str], lengths: Mapping[str, Iterable[int]]) -> Iterator[str]:
    """Yield what may be a phrase: the words from each on, in the lengths of the phrases that begin with it."""
    for begin, word in enumerate(words):
        for length in lengths.get(word, ()):
            yield " ".join(words[begin : begin + length])


def _numbers(form: str) -> set[str]:
    return {word for word in form.split() if word.isdigit()}


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
