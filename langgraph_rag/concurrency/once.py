"""A thread-safe cache of function results."""

import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def made_once(make: Callable[P, T]) -> Callable[P, T]:
    """Cache like `functools.cache`, but call `make` only once if several threads need the same result."""
    looking, made = threading.Lock(), cache(make)
    lock_of = cache(lambda *_, **__: threading.Lock())  # one for each result, so that slow ones do not block others

    @wraps(make)
    def given(*args: P.args, **kwargs: P.kwargs) -> T:
        with looking:
            making = lock_of(*args, **kwargs)  # type: ignore[arg-type]
        with making:
            return made(*args, **kwargs)  # type: ignore[arg-type]

    return given
