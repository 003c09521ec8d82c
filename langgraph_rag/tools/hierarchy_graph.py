"""MGranRAG's contextual hierarchical graph: passages, their sentences, the phrases in them, as compact arrays."""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np

from langgraph_rag.matching import normalise
from langgraph_rag.records import Record
from langgraph_rag.tools.pagerank import Ids, PageRankGraph

_BRACKETS = re.compile(r"\s*\([^()]*\)")
_COMMON = 200  # phrases a word may stand in and still tell similar ones
_ALIKE = 0.5  # share of the words of two phrases that both have; with fewer they hardly ever mean the same


@dataclass(frozen=True)
class HierarchyGraph:
    """Nodes are numbers: passages first, then sentences, then phrases; edges say what contains what.

    A sentence that stands in several passages is one node, and so are the spellings of a phrase with one normal form
    (`phrases` maps the normal form to the node, `names` lists the first spellings). The title belongs to the first
    sentence. Nothing here changes: after the records have, another one is built.
    """

    passages: tuple[str, ...]
    sentences: Mapping[str, int]
    phrases: Mapping[str, int]
    names: tuple[str, ...]
    sources: Ids
    targets: Ids

    @classmethod
    def of(cls, records: Iterable[Record]) -> "HierarchyGraph":
        """Build the graph of passages with their stored sentences and phrases."""
        ids: list[str] = []
        sentences: dict[str, int] = {}
        phrases: dict[str, int] = {}
        names: list[str] = []
        stands, says = array("q"), array("q")  # passage and sentence, sentence and phrase, by turns
        for number, record in enumerate(records):
            ids.append(record["id"])
            forms = [(f" {form} ", form, spelling) for form, spelling in _forms(record).items()]
            for place, sentence in enumerate(record["sentences"]):
                node = sentences.setdefault(sentence, len(sentences))
                stands.extend((number, node))
                text = f" {normalise(sentence if place else record['title'] + ' ' + sentence)} "
                for words, form, spelling in forms:
                    if words in text:
                        if form not in phrases:
                            phrases[form] = len(names)
                            names.append(spelling)
                        says.extend((node, phrases[form]))
        first, second = len(ids), len(ids) + len(sentences)
        edges = np.concatenate(
            [_distinct(stands, len(sentences)) + [[0], [first]], _distinct(says, len(names)) + [[first], [second]]],
            axis=1,
        )
        return cls(
            passages=tuple(ids),
            sentences={text: first + node for text, node in sentences.items()},
            phrases={form: second + node for form, node in phrases.items()},
            names=tuple(names),
            sources=edges[0],
            targets=edges[1],
        )

    @cached_property
    def walk(self) -> PageRankGraph:
        """The graph to walk on, undirected and unweighted."""
        return PageRankGraph.from_edges(
            len(self.passages) + len(self.sentences) + len(self.names), self.sources, self.targets
        )

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The node of each passage id."""
        return {id_: number for number, id_ in enumerate(self.passages)}

    def ready(self) -> "HierarchyGraph":
        """Return this graph after building what is otherwise built when first used."""
        _ = self.walk, self.numbers, self._by_word
        return self

    def has(self, phrase: str) -> bool:
        """Tell whether a phrase is known, however it is capitalised and punctuated."""
        return normalise(phrase) in self.phrases

    def linked(self, sentence: int, phrase: int) -> bool:
        """Tell whether a sentence is known to contain a phrase (both as nodes, the phrase perhaps of no node here)."""
        return phrase in self.walk.neighbours(sentence)

    def similar(self, text: str, limit: int = 10) -> list[str]:
        """Return the phrases that share most words, half of them at least, and all numbers with a text, best first."""
        words = frozenset(normalise(text).split())
        numbers = {word for word in words if word.isdigit()}
        shared: Counter[str] = Counter()
        for word in words:
            forms = self._by_word.get(word, [])
            if len(forms) <= _COMMON:
                shared.update(forms)
        likeness = {
            form: count / len(words | frozenset(form.split()))
            for form, count in shared.items()
            if {word for word in form.split() if word.isdigit()} == numbers
        }
        alike = [form for form, share in likeness.items() if share >= _ALIKE]
        best = sorted(alike, key=lambda form: (-likeness[form], form))[:limit]
        return [self.names[self.phrases[form] - len(self.passages) - len(self.sentences)] for form in best]

    def networkx(self) -> Any:
        """Return a NetworkX copy with `kind` and `name` on each node, for drawing and analysis."""
        graph = nx.Graph()
        graph.add_nodes_from((node, {"kind": "passage", "name": id_}) for node, id_ in enumerate(self.passages))
        graph.add_nodes_from((node, {"kind": "sentence", "name": text}) for text, node in self.sentences.items())
        graph.add_nodes_from(
            (node, {"kind": "phrase", "name": name})
            for node, name in zip(self.phrases.values(), self.names, strict=True)
        )
        graph.add_edges_from(zip(self.sources.tolist(), self.targets.tolist(), strict=True))
        return graph

    @cached_property
    def _by_word(self) -> Mapping[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for form in self.phrases:
            for word in set(form.split()):
                found[word].append(form)
        return found


def _forms(record: Record) -> dict[str, str]:
    """Return the phrases of a passage by normal form: those stored, its title, and that without what is in brackets."""
    title = record["title"]
    spellings = [title, _BRACKETS.sub("", title), *record["phrases"]]
    return {form: spelling for spelling in reversed(spellings) if (form := normalise(spelling))}


def _distinct(pairs: "array[int]", seconds: int) -> Ids:
    """Return each pair once, as two rows; the second of each is below `seconds`."""
    one, other = np.frombuffer(pairs, np.int64).reshape(-1, 2).T
    return np.stack(np.divmod(np.unique(one * seconds + other), max(seconds, 1)))
