"""Measures what a question costs in model calls, tokens and seconds, and enforces its limits."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langgraph.runtime import RunControl, get_runtime

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


@dataclass(eq=False)
class Account:
    """What a run of a method costs, with the runs inside it; `outer` is that of the run around it, which pays as well.

    `limits` are those that the run around the account set; a part of them is kept if there is an `answer` to give.
    `pending` are the estimated tokens of prompts without a reply so far. `runs` counts the methods that run right
    inside it now: a call for the answer of each is kept.
    """

    outer: "Account | None" = None
    limits: Context = field(default_factory=Context)
    answer: bool = True
    calls: int = 0
    tokens: int = 0
    pending: int = 0
    longest_call: float = 0.0
    runs: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def payers(self) -> "list[Account]":
        """This account and all around it."""
        return [self, *(self.outer.payers if self.outer else [])]

    def catch_up(self, spent: Usage) -> None:
        """Add what a resumed run had spent before it was stopped."""
        calls, tokens = max(spent["calls"] - self.calls, 0), max(tokens_spent(spent) - self.tokens, 0)
        for account in self.payers:
            account.calls += calls
            account.tokens += tokens

    def check(self, limits: Context, tokens: int, *, concluding: bool) -> None:
        """Refuse a call for which the limits leave no room."""
        concluding = concluding or not self.answer
        most, kept = limits.max_model_calls, 0 if concluding else max(self.runs, 1)
        if most is not None and self.calls >= most - kept:
            raise BudgetReachedError("max_model_calls", most)
        most = limits.max_tokens
        room = most and (most if concluding else most * _WORKING_SHARE)
        if most is not None and room is not None and self.pending + self.tokens + tokens > room:
            raise BudgetReachedError("max_tokens", most)


_account: ContextVar[Account | None] = ContextVar("langgraph_rag_account", default=None)


@lru_cache(1_000)  # runs of graphs around methods; LangGraph tells no more about a run than this object
def _account_of(run: RunControl) -> Account:
    return Account()


def new_account() -> Account:
    """Open an account for a run of a method, within that of the graph or the tool that runs it."""
    outer = _account.get()
    if outer is None and (run := _run_around()):
        outer = _account_of(run)
    if outer is not None:
        outer.limits = context()
    return Account(outer)


def _run_around() -> RunControl | None:
    try:
        runtime = get_runtime(Context)
    except RuntimeError:  # outside a graph
        return None
    return runtime.control if runtime else None  # no runtime: in a chain of LangChain's


@contextmanager
def charged(account: Account) -> Iterator[None]:
    """Charge the calls of the block to an account."""
    with override(_account, account):
        yield


@contextmanager
def running(account: Account) -> Iterator[None]:
    """Keep a call for the answer of a run in the account around it."""
    if account.outer:
        account.outer.runs += 1
    try:
        yield
    finally:
        if account.outer:
            account.outer.runs -= 1


@dataclass
class Meter:
    """Counts the cost of one node; `before` is the cost of the question before the node."""

    before: Usage
    usage: Usage = field(default_factory=no_usage)
    started: float = field(default_factory=time.monotonic)
    account: Account = field(default_factory=lambda: _account.get() or Account())

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
        self.account.catch_up(self.before)
        payers = self.account.payers
        for account in payers:
            account.check(limits if account is self.account else account.limits, tokens, concluding=concluding)
        call = Call(self.seconds_left(limits.deadline_s, concluding=concluding), tokens)
        began = self.seconds
        for account in payers:
            account.calls += 1
            account.pending += tokens
        self.usage["calls"] += 1
        try:
            yield call
            took = round(self.seconds - began, 4) or 0.0001  # 0 would say that none was replied to
            self.usage["longest_call"] = max(self.usage["longest_call"], took)
            for account in payers:
                account.longest_call = max(account.longest_call, took)
        finally:
            before = tokens_spent(self.usage)
            if call.waiting:
                self.usage["calls"] -= 1
            elif call.cost is None:
                self.usage["estimated_tokens"] += call.estimated_tokens
            else:
                self.usage["input_tokens"] += call.cost["input_tokens"]
                self.usage["output_tokens"] += call.cost.get("output_tokens") or 0
            for account in payers:
                account.calls -= call.waiting
                account.pending -= tokens
                account.tokens += tokens_spent(self.usage) - before

    def seconds_left(self, limit: float | None, *, concluding: bool = False) -> float | None:
        """Return the seconds left for the search, or for the answer if `concluding`; None if there is no limit.

        The search leaves a quarter of the time, and more if the calls so far show that the answer may take longer.
        Runs around this one have limits, too.

        Raises:
            BudgetReachedError: when there is no time left.
        """
        longest = max(self.before["longest_call"], self.usage["longest_call"])
        left = [_left(limit, longest, self.before["seconds"] + self.seconds, concluding)]
        for account in self.account.payers[1:]:
            passed = time.monotonic() - account.started
            left.append(_left(account.limits.deadline_s, account.longest_call, passed, concluding))
        return min((seconds for seconds in left if seconds is not None), default=None)


def _left(limit: float | None, longest: float, passed: float, concluding: bool) -> float | None:
    if limit is None:
        return None
    kept = 0.0 if concluding else max(limit * (1 - _WORKING_SHARE), _MARGIN * longest)
    if (left := limit - kept - passed) <= 0:
        raise BudgetReachedError("deadline_s", limit)
    return left


_meter: ContextVar[Meter | None] = ContextVar("langgraph_rag_meter", default=None)


@contextmanager
def metered(before: Usage | None = None, *, most: Context | None = None) -> Iterator[Usage]:
    """Measure the cost of the block and its tasks; `before` is the cost of the question so far, and may lack fields.

    Beyond the calls and tokens of `most`, if it is given, `ask` raises `BudgetReachedError`; no part is kept for an
    answer. Replies that are under way may exceed the tokens.
    """
    meter = Meter(Usage(**{**no_usage(), **(before or no_usage())}))
    if most is not None:
        meter.account = Account(Account(limits=most, answer=False))
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
    return bool(_stopped_by())


def never_answered() -> Limit | Literal[""]:
    """Return the limit that ended the search before the model replied to anything; empty if it did."""
    meter = current_meter()
    return "" if meter.before["longest_call"] or meter.usage["longest_call"] else _stopped_by()


def asked() -> bool:
    """Return whether the model was asked anything, be it in vain."""
    meter = current_meter()
    return bool(meter.before["calls"] or meter.usage["calls"])


def _stopped_by() -> Limit | Literal[""]:
    meter = current_meter()
    return meter.usage["stopped_by"] or meter.before["stopped_by"]
