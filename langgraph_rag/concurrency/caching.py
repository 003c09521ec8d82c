"""A cache of function results for several threads."""

import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def thread_safe_cache(function: Callable[P, T]) -> Callable[P, T]:
    """Cache like `functools.cache`, but call the function only once if several threads need the same result."""
    lock, cached = threading.Lock(), cache(function)
    lock_of = cache(lambda *_, **__: threading.Lock())  # one for each result, so that slow ones do not block others

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with lock:
            own_lock = lock_of(*args, **kwargs)  # type: ignore[arg-type]
        with own_lock:
            return cached(*args, **kwargs)  # type: ignore[arg-type]

    return call
