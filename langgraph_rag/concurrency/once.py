"""What is made once in a process, however many threads ask for it."""

import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def made_once(make: Callable[P, T]) -> Callable[P, T]:
    """Cache like `functools.cache`, but call `make` once even where several threads ask for the same at a time."""
    looking, made = threading.Lock(), cache(make)
    lock_of = cache(lambda *_, **__: threading.Lock())  # what takes long to make keeps nobody from what is made

    @wraps(make)
    def given(*args: P.args, **kwargs: P.kwargs) -> T:
        with looking:
            making = lock_of(*args, **kwargs)  # type: ignore[arg-type]
        with making:
            return made(*args, **kwargs)  # type: ignore[arg-type]

    return given
