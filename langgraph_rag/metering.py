"""Measures what a question costs in model calls, tokens and seconds, and enforces its limits."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import UsageMetadata

from langgraph_rag.concurrency.context_variables import override
from langgraph_rag.context import Context, context
from langgraph_rag.errors import BudgetReachedError
from langgraph_rag.normal_forms import UNSPACED
from langgraph_rag.records import Limit, Usage, no_usage, tokens_spent

T = TypeVar("T")
_CHARS_PER_TOKEN = 4  # estimated, where there are spaces between words
_WORKING_SHARE = 0.75  # of tokens and time; the rest is kept for the answer
_MARGIN = 1.5  # the answer may take so many times as long as the longest call before it


def estimated_tokens(messages: Iterable[BaseMessage]) -> int:
    """Return the estimated number of tokens of messages."""
    return tokens_in("".join(message.text for message in messages))


def tokens_in(text: str) -> int:
    """Return the estimated number of tokens of a text; in scripts without spaces, each character is one."""
    unspaced = 0 if text.isascii() else len(UNSPACED.findall(text))
    return unspaced + (len(text) - unspaced) // _CHARS_PER_TOKEN


@dataclass
class Call:
    """A model call: the seconds that it may take (None: no limit), and its cost after the reply.

    `estimated_tokens` are used if the model does not report the cost; before the reply, they are those of the prompt. A
    call that ends while it is still `waiting` for its turn is not counted.
    """

    seconds_left: float | None
    estimated_tokens: int
    cost: UsageMetadata | None = None
    waiting: bool = False


@dataclass
class Meter:
    """Counts the cost of one node; `before` is the cost of the question before the node.

    `pending` are the estimated tokens of prompts without a reply so far.
    """

    before: Usage
    usage: Usage = field(default_factory=no_usage)
    started: float = field(default_factory=time.monotonic)
    pending: int = 0

    @property
    def seconds(self) -> float:
        """Time since the node began."""
        return time.monotonic() - self.started

    @contextmanager
    def call(self, limits: Context, tokens: int, *, concluding: bool) -> Iterator[Call]:
        """Count a call whose prompt has `tokens` tokens.

        Calls that do not conclude are refused before the budget is spent, so that there is room for the answer.

        Raises:
            BudgetReachedError: when the budget leaves no room for the call.
        """
        self._check_calls(limits.max_model_calls, concluding)
        self._check_tokens(limits.max_tokens, tokens, concluding)
        call = Call(self.seconds_left(limits.deadline_s, concluding=concluding), tokens)
        self.usage["calls"] += 1
        self.pending += tokens
        began = self.seconds
        try:
            yield call
            self.usage["longest_call"] = max(self.usage["longest_call"], round(self.seconds - began, 4))
        finally:
            self.pending -= tokens
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
        spent = self.pending + tokens_spent(self.before) + tokens_spent(self.usage)
        if limit is not None and spent + tokens > (limit if concluding else limit * _WORKING_SHARE):
            raise BudgetReachedError("max_tokens", limit)

    def seconds_left(self, limit: float | None, *, concluding: bool = False) -> float | None:
        """Return the seconds left for the search, or for the answer if `concluding`; None if there is no limit.

        The search leaves a quarter of the time, and more if the calls so far show that the answer may take longer.

        Raises:
            BudgetReachedError: when there is no time left.
        """
        if limit is None:
            return None
        longest = max(self.before["longest_call"], self.usage["longest_call"])
        kept = 0.0 if concluding else max(limit * (1 - _WORKING_SHARE), _MARGIN * longest)
        left = limit - kept - self.before["seconds"] - self.seconds
        if left <= 0:
            raise BudgetReachedError("deadline_s", limit)
        return left


_meter: ContextVar[Meter | None] = ContextVar("langgraph_rag_meter", default=None)


@contextmanager
def metered(before: Usage | None = None) -> Iterator[Usage]:
    """Measure the cost of the block and its tasks; `before` is the cost of the question so far, and may lack fields."""
    meter = Meter(Usage(**{**no_usage(), **(before or no_usage())}))
    try:
        with override(_meter, meter):
            yield meter.usage
    finally:
        meter.usage["seconds"] = meter.seconds
        since = meter.before["ended_at"] + meter.seconds  # at least, as the clock may be set back
        meter.usage["ended_at"] = max(time.time(), since)


def current_meter() -> Meter:
    """Return the meter of the current node; outside a node, a new one."""
    return _meter.get() or Meter(no_usage())


def count_dropped(number: int) -> None:
    """Count items of a reply that are not used: the model invented them, or they are too many."""
    current_meter().usage["dropped"] += number


def first_of(items: list[T], number: int) -> list[T]:
    """Return the first items of a reply, and count the others as dropped."""
    count_dropped(len(items[number:]))
    return items[:number]


def stop(limit: Limit) -> None:
    """Record which limit ended the search for an answer."""
    current_meter().usage["stopped_by"] = limit


def stopped() -> bool:
    """Return whether a limit has ended the search for an answer."""
    meter = current_meter()
    return bool(meter.before["stopped_by"] or meter.usage["stopped_by"])


def split_budget(usage: Usage, parts: int) -> list[Usage]:
    """Split the budget that is left between parallel nodes; return the usage that each of them starts from."""
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
