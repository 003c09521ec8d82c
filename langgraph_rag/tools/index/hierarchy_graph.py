"""MGranRAG's contextual hierarchical graph of passages, sentences and phrases, as compact arrays."""

import re
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from langgraph_rag.normal_forms import apart, normalise
from langgraph_rag.records import Record
from langgraph_rag.tools.index.joining import Names
from langgraph_rag.tools.index.pagerank import Nodes, PageRankGraph, PassageNodes, Rows, forget

_BRACKETS = re.compile(r"\s*\([^()]*\)")
_SIMILAR = 10  # phrases at most


@dataclass(frozen=True)
class HierarchyGraph:
    """Nodes are numbers: of passages by id, sentences by text, phrases by normal form. Edges mean "contains".

    A sentence in several passages is one node, and so are all spellings of a phrase with one normal form (`spellings`
    has that of the first passage). The title belongs to the first sentence. The graph never changes; after the
    records change, a new one is made.
    """

    passages: PassageNodes
    sentences: Mapping[str, int]
    phrases: Mapping[str, int]
    spellings: Mapping[str, str]
    walk: PageRankGraph
    """Undirected and unweighted."""
    names: Names
    """The phrases by their words; newer ones may have been added."""

    def has(self, phrase: str) -> bool:
        """Return whether a phrase is known, independent of case and punctuation."""
        return normalise(phrase) in self.phrases

    def linked(self, sentence: int, phrase: int) -> bool:
        """Return whether a sentence contains a phrase (both are nodes); the phrase may be unknown."""
        return phrase in self.walk.neighbours(sentence)

    def similar(self, text: str) -> list[str]:
        """Return the phrases that share at least half of the words and all numbers with a text, best first."""
        form = normalise(text)
        shares = self.names.alike(form, self.phrases)
        alike = [phrase for phrase in shares if _numbers(phrase) == _numbers(form)]
        best = sorted(alike, key=lambda phrase: (-shares[phrase], phrase))[:_SIMILAR]
        return [self.spellings[phrase] for phrase in best]


class HierarchyRows:
    """The data of a hierarchical graph, kept for a fast rebuild after changes of passages."""

    def __init__(self) -> None:
        self._nodes = Nodes()
        self._passages: defaultdict[str, int] = defaultdict(self._nodes)
        self._sentences: defaultdict[str, int] = defaultdict(self._nodes)
        self._phrases: defaultdict[str, int] = defaultdict(self._nodes)
        self._spellings: defaultdict[str, int] = defaultdict(Nodes())
        self._names = Names()
        self._stands = Rows(2)  # passage, sentence
        self._says = Rows(3)  # passage, sentence, phrase
        self._spells = Rows(3)  # passage, phrase, spelling

    def add(self, records: Iterable[Record]) -> None:
        """Add passages with their stored sentences and phrases."""
        known, stands, says, spells = len(self._phrases), array("q"), array("q"), array("q")
        for record in records:
            passage = self._passages[record["id"]]
            forms = list(_forms(record).items())
            numbers = {apart(form): number for number, (form, _) in enumerate(forms)}
            lengths = _lengths(numbers)
            spelled: dict[str, str] = {}
            for place, sentence in enumerate(record["sentences"]):
                node = self._sentences[sentence]
                stands.extend((passage, node))
                words = normalise(apart(sentence if place else record["title"] + " " + sentence)).split()
                said = sorted({numbers[form] for form in _spans(words, lengths) if form in numbers})
                for form, spelling in map(forms.__getitem__, said):
                    says.extend((passage, node, self._phrases[form]))
                    spelled[form] = spelling
            for form, spelling in spelled.items():
                spells.extend((passage, self._phrases[form], self._spellings[spelling]))
        self._stands.add(stands)
        self._says.add(says)
        self._spells.add(spells)
        self._names.add(islice(self._phrases, known, None))

    def remove(self, ids: Iterable[str]) -> None:
        """Remove passages, and the sentences and phrases that no other passage has."""
        passages = [self._passages.pop(id_) for id_ in ids if id_ in self._passages]
        if sentences := self._stands.remove(passages, columns=(1,)):
            forget(self._sentences, sentences)
        if phrases := self._says.remove(passages, columns=(2,)):
            self._names.remove(forget(self._phrases, phrases))
        if spellings := self._spells.remove(passages, columns=(2,)):
            forget(self._spellings, spellings)

    def outgrown(self) -> bool:
        """Return whether most nodes were removed; their numbers are not reused and take space in the arrays."""
        return self._nodes.given > 2 * (len(self._passages) + len(self._sentences) + len(self._phrases))

    def graph(self, passages: Collection[str]) -> HierarchyGraph:
        """Build the graph; the spelling of a phrase is that in the first of these passages."""
        size = self._nodes.given
        pairs = np.concatenate([self._stands.columns, self._says.columns[1:]], axis=1)
        sources, targets = np.divmod(np.unique(pairs[0] * size + pairs[1]), max(size, 1))
        return HierarchyGraph(
            passages=PassageNodes(self._passages),
            sentences=dict(self._sentences),
            phrases=dict(self._phrases),
            spellings=self._first_spellings(passages),
            walk=PageRankGraph.from_edges(size, sources, targets),
            names=self._names,
        )

    def graph_of(self, passages: Collection[str]) -> HierarchyGraph:
        """Build the graph of some of the passages, in which there is nothing of the others."""
        part, there = HierarchyRows(), np.zeros(self._nodes.given, bool)
        part._passages.update((id_, self._passages[id_]) for id_ in passages if id_ in self._passages)
        there[list(part._passages.values())] = True
        part._nodes.given = self._nodes.given
        for rows, whole in ((part._stands, self._stands), (part._says, self._says), (part._spells, self._spells)):
            rows.columns = whole.columns[:, there[whole.columns[0]]]
        said, stood = set(part._says.columns[2].tolist()), set(part._stands.columns[1].tolist())
        part._phrases.update((form, node) for form, node in self._phrases.items() if node in said)
        part._sentences.update((text, node) for text, node in self._sentences.items() if node in stood)
        part._spellings = self._spellings
        part._names.add(part._phrases)
        return part.graph(passages)

    def _first_spellings(self, passages: Iterable[str]) -> dict[str, str]:
        there = [self._passages[id_] for id_ in passages if id_ in self._passages]
        places = np.full(self._nodes.given, len(there))  # rows are in the order of changes
        places[there] = np.arange(len(there))
        by_place = np.argsort(places[self._spells.columns[0]], kind="stable")
        _, spelled_phrases, spellings = self._spells.columns[:, by_place]
        phrases, rows = np.unique(spelled_phrases, return_index=True)
        first = dict(zip(phrases.tolist(), spellings[rows].tolist(), strict=True))
        spelled = {number: spelling for spelling, number in self._spellings.items()}
        return {form: spelled[first[phrase]] for form, phrase in self._phrases.items()}


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
