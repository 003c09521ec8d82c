"""Run the transformer of an embedder as one call of torch, without Python between its operations."""

import logging
import warnings
from collections.abc import Callable
from typing import Any

_log = logging.getLogger(__name__)
_PADDED = ["One short sentence.", "Another one, which is a little longer than the first."]
_UNPADDED = ["A sentence by itself, of a length that neither of the others has."]
_LONG = ["word " * 600]  # cut where the model ends; beyond the window of those that attend to their neighbours only


def trace(model: Any) -> Any:
    """Let the transformer of a sentence-transformers model run as TorchScript, if that gives the very same vectors.

    Between two operations torch hands Python's lock to whoever waits for it, and then waits itself: a hundred times for
    each batch, up to milliseconds each where other threads answer questions. TorchScript waits once, at the end.

    Args:
        model: a SentenceTransformer; its first module is changed in place.

    Returns:
        The model.
    """
    try:
        forward = _traced(model)
    except Exception as error:  # a transformer that cannot be traced, for whatever reason, works as it is
        _log.info("the embedder's transformer is run by Python: %s", error)
        return model
    model[0].auto_model.forward = forward
    return model


def _traced(model: Any) -> Callable[..., dict[str, Any]]:
    """Trace a transformer with one batch, and compare on batches of other shapes: no shape may have become a constant.

    Raises:
        ValueError: when the vectors differ.
    """
    import torch

    transformer = model[0].auto_model.eval().requires_grad_(False)  # as constants of the trace
    padded, *others = (_tensors(model, texts) for texts in (_PADDED, _UNPADDED, _LONG))
    names = list(padded)

    def plain(*inputs: Any) -> Any:
        return transformer(**dict(zip(names, inputs, strict=True))).last_hidden_state

    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what may become a constant: the comparison tells
        traced = torch.jit.trace(plain, tuple(padded.values()), check_trace=False)
        for batch in (padded, *others):
            if not torch.equal(traced(*batch.values()), plain(*batch.values())):
                raise ValueError("the trace gives other vectors than the transformer")
    return lambda **given: {"last_hidden_state": traced(*(given[name] for name in names))}


def _tensors(model: Any, texts: list[str]) -> dict[str, Any]:
    import torch

    return {name: value for name, value in model.preprocess(texts).items() if isinstance(value, torch.Tensor)}
