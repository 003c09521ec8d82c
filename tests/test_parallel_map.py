"""Work in several threads returns results in order, and a failure ends the rest."""

import time
from collections.abc import Iterator

import pytest

from langgraph_rag.concurrency.threads import parallel_map


def test_what_is_done_last_is_not_finished_before_what_came_first() -> None:
    worked, finished = list[int](), list[int]()

    def work(item: int) -> int:
        time.sleep(0.05 if item == 0 else 0)
        worked.append(item)
        return item * item

    def finish(item: int, made: int) -> tuple[int, int]:
        finished.append(item)
        return item, made

    assert [*parallel_map(work, finish, range(5), 2)] == [(item, item * item) for item in range(5)]
    assert worked != finished == [*range(5)]


def test_nothing_is_finished_after_what_failed() -> None:
    finished = list[int]()

    def work(item: int) -> int:
        if item == 3:
            raise ValueError("three")
        return item

    with pytest.raises(ValueError, match="three"):
        list(parallel_map(work, lambda item, _: finished.append(item), range(100), 2))
    assert finished == [0, 1, 2]


def test_only_a_few_items_are_taken_ahead() -> None:
    taken = list[int]()

    def items() -> Iterator[int]:
        for item in range(1000):
            taken.append(item)
            yield item

    results = parallel_map(lambda item: item, lambda item, _: item, items(), 2)
    assert next(results) == 0
    assert len(taken) < 100
