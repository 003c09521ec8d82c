"""Contrastive training of a bi-encoder (KiRAG, section 3.4, Eq. 4; rate, batch and negatives of appendix B.3)."""

import copy
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import batch_to_device

from langgraph_rag.tools.ingest.embeddings import Family
from langgraph_rag.training.lessons import Lesson

_LEARNING_RATE, _WEIGHT_DECAY, _TEMPERATURE = 2e-5, 0.01, 0.01
_BATCH, _WRONG = 64, 7
_SHOWN = 20  # candidates, KiRAG's N
_ALIKE = 32  # texts of similar length that are embedded at once, for less padding


@dataclass(frozen=True)
class Ranks:
    """The ranks of the right triples of lessons among the candidates.

    `reciprocal` is the mean reciprocal rank. `first` is the share at rank 1, `shown` the share among the 20 that the
    constructor is shown.
    """

    reciprocal: float
    first: float
    shown: float


def fit(
    model: SentenceTransformer,
    family: Family,
    lessons: Sequence[Lesson],
    held_back: Sequence[Lesson],
    *,
    epochs: int,
    each_batch: Callable[[], Any] = lambda: None,
) -> tuple[Ranks, Ranks]:
    """Train a model, and restore the weights of the epoch that ranked the held-out lessons best.

    Returns:
        The ranks of these lessons before and after training.
    """
    trainee, order = _Trainee(model, family), random.Random(0)  # noqa: S311 - reproducible
    before = best = trainee.ranks(held_back)
    kept = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.AdamW(model.parameters(), lr=_LEARNING_RATE, weight_decay=_WEIGHT_DECAY)
    torch.manual_seed(0)
    for _ in range(epochs):
        model.train()
        mixed = order.sample(lessons, len(lessons))
        for start in range(0, len(mixed), _BATCH):
            optimizer.zero_grad()
            trainee.loss(mixed[start : start + _BATCH], order).backward()
            optimizer.step()
            each_batch()
        model.eval()
        ranks = trainee.ranks(held_back)
        if ranks.reciprocal > best.reciprocal:
            best, kept = ranks, copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)
    return before, best


def batches_of(lessons: Sequence[Lesson]) -> int:
    """Return the number of batches in an epoch for a number of lessons."""
    return math.ceil(len(lessons) / _BATCH)


@dataclass(frozen=True)
class _Trainee:
    model: SentenceTransformer
    family: Family

    def loss(self, lessons: Sequence[Lesson], order: random.Random) -> torch.Tensor:
        """Return the mean of Eq. 4 over a batch."""
        offered = [[lesson.right, *order.sample(lesson.wrong, min(_WRONG, len(lesson.wrong)))] for lesson in lessons]
        texts = list(dict.fromkeys(text for triples in offered for text in triples))
        place = {text: position for position, text in enumerate(texts)}
        queries, triples = self._queries(lessons), self._triples(texts)
        losses = [
            torch.logsumexp(logits, 0) - logits[0]
            for query, few in zip(queries, offered, strict=True)
            for logits in [triples[[place[text] for text in few]] @ query / _TEMPERATURE]
        ]
        return torch.stack(losses).mean()

    def ranks(self, lessons: Sequence[Lesson]) -> Ranks:
        """Rank the right triple of each lesson among all of its candidates."""
        texts = list(dict.fromkeys(text for lesson in lessons for text in [lesson.right, *lesson.wrong]))
        place = {text: position for position, text in enumerate(texts)}
        with torch.inference_mode():
            queries, triples = self._queries(lessons), self._triples(texts)
        ranks = []
        for query, lesson in zip(queries, lessons, strict=True):
            right, *wrong = (triples[[place[text] for text in [lesson.right, *lesson.wrong]]] @ query).tolist()
            ranks.append(1 + sum(score >= right for score in wrong))
        return Ranks(
            reciprocal=fmean(1 / rank for rank in ranks),
            first=fmean(rank == 1 for rank in ranks),
            shown=fmean(rank <= _SHOWN for rank in ranks),
        )

    def _queries(self, lessons: Sequence[Lesson]) -> torch.Tensor:
        return self._embed([self.family.query_prefix + lesson.query for lesson in lessons])

    def _triples(self, texts: Sequence[str]) -> torch.Tensor:
        return self._embed([self.family.passage_prefix + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> torch.Tensor:
        """Return normalised vectors; shape: texts x dimensions."""
        by_length = sorted(range(len(texts)), key=lambda position: len(texts[position]))
        vectors = []
        for start in range(0, len(texts), _ALIKE):
            alike = [texts[position] for position in by_length[start : start + _ALIKE]]
            pooled = self.model(batch_to_device(self.model.preprocess(alike), self.model.device))
            vectors.append(torch.nn.functional.normalize(pooled["sentence_embedding"], dim=1))
        return torch.cat(vectors)[torch.tensor(by_length).argsort()]
