"""What a question costs in model calls, tokens and seconds, and how much it may cost."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import UsageMetadata

from langgraph_rag.concurrency.scopes import having
from langgraph_rag.context import Context, context
from langgraph_rag.errors import BudgetReachedError
from langgraph_rag.records import Limit, Usage, no_usage, tokens_spent

T = TypeVar("T")
CHARS_PER_TOKEN = 4  # estimated
_WORKING_SHARE = 0.75  # of tokens and time; the rest is kept for the answer


def estimated_tokens(messages: Iterable[BaseMessage]) -> int:
    """Return about how many tokens messages are."""
    return sum(len(message.text) for message in messages) // CHARS_PER_TOKEN


@dataclass
class Call:
    """A model call: the seconds it may take (None is as many as it likes), and what it cost once it is done.

    `estimated_tokens` stand in for the cost where the model does not tell it; those of the prompt, until it replies.
    One that ends while it is still `waiting` for its turn was never made.
    """

    seconds_left: float | None
    estimated_tokens: int
    cost: UsageMetadata | None = None
    waiting: bool = False


@dataclass
class Meter:
    """Counts what one node costs on top of what the question cost before it.

    `under_way` are the estimated tokens of prompts whose replies are still to come.
    """

    before: Usage
    usage: Usage = field(default_factory=no_usage)
    started: float = field(default_factory=time.monotonic)
    under_way: int = 0

    @property
    def seconds(self) -> float:
        """Time since the node began."""
        return time.monotonic() - self.started

    @contextmanager
    def call(self, limits: Context, tokens: int, *, concluding: bool) -> Iterator[Call]:
        """Count a call whose prompt has some `tokens`.

        Calls that only work towards an answer stop before the budget is spent, so that the answer can still be given.

        Raises:
            BudgetReachedError: when there is no room for the call.
        """
        self._check_calls(limits.max_model_calls, concluding)
        self._check_tokens(limits.max_tokens, tokens, concluding)
        call = Call(self.seconds_left(limits.deadline_s, concluding=concluding), tokens)
        self.usage["calls"] += 1
        self.under_way += tokens
        try:
            yield call
        finally:
            self.under_way -= tokens
            if call.waiting:
                self.usage["calls"] -= 1
            elif call.cost is None:
                self.usage["estimated_tokens"] += call.estimated_tokens
            else:
                self.usage["input_tokens"] += call.cost["input_tokens"]
                self.usage["output_tokens"] += call.cost.get("output_tokens") or 0

    def _check_calls(self, limit: int | None, concluding: bool) -> None:
        made = self.before["calls"] + self.usage["calls"]
        if limit is not None and made >= (limit if concluding else limit - 1):
            raise BudgetReachedError("max_model_calls", limit)

    def _check_tokens(self, limit: int | None, tokens: int, concluding: bool) -> None:
        spent = self.under_way + tokens_spent(self.before) + tokens_spent(self.usage)
        if limit is not None and spent + tokens > (limit if concluding else limit * _WORKING_SHARE):
            raise BudgetReachedError("max_tokens", limit)

    def seconds_left(self, limit: float | None, *, concluding: bool = False) -> float | None:
        """Return how long the work on the answer, or what concludes it, may still take; None is as long as it likes.

        Raises:
            BudgetReachedError: when there is no time left.
        """
        if limit is None:
            return None
        left = (limit if concluding else limit * _WORKING_SHARE) - self.before["seconds"] - self.seconds
        if left <= 0:
            raise BudgetReachedError("deadline_s", limit)
        return left


_meter: ContextVar[Meter | None] = ContextVar("langgraph_rag_meter", default=None)


@contextmanager
def metered(before: Usage | None = None) -> Iterator[Usage]:
    """Collect what everything inside costs, also in tasks started inside; `before` is what the question cost so far."""
    meter = Meter(before or no_usage())
    try:
        with having(_meter, meter):
            yield meter.usage
    finally:
        meter.usage["seconds"] = meter.seconds
        since = meter.before["ended_at"] + meter.seconds  # at least: a wall clock may be set back
        meter.usage["ended_at"] = max(time.time(), since)


def current_meter() -> Meter:
    """Return the meter of the node this is called in; outside a node, one that nobody reads."""
    return _meter.get() or Meter(no_usage())


def count_dropped(number: int) -> None:
    """Count items a model returned that are not used: they match nothing it was shown, or are too many."""
    current_meter().usage["dropped"] += number


def first_of(items: list[T], number: int) -> list[T]:
    """Return the first items that a model gave, and count the others as dropped."""
    count_dropped(len(items[number:]))
    return items[:number]


def stop(limit: Limit) -> None:
    """Note which limit ended the search for an answer."""
    current_meter().usage["stopped_by"] = limit


def stopped() -> bool:
    """Tell whether a limit has ended the search for an answer."""
    meter = current_meter()
    return bool(meter.before["stopped_by"] or meter.usage["stopped_by"])


def split_budget(usage: Usage, parts: int) -> list[Usage]:
    """Return what each of several parallel nodes counts from, so that all of them together stay within the budget."""
    limits = context()
    shares = [Usage(**usage) for _ in range(parts)]
    for place, share in enumerate(shares):
        if limits.max_model_calls is not None:
            room = max(limits.max_model_calls - 1 - usage["calls"], 0)
            share["calls"] = limits.max_model_calls - 1 - room // parts - (place < room % parts)
        if limits.max_tokens is not None:
            most = int(limits.max_tokens * _WORKING_SHARE)
            room = max(most - tokens_spent(usage), 0)
            share["input_tokens"] += most - room // parts - tokens_spent(share)
    return shares
