"""What a model can be asked for: JSON by a schema, the role "system", options of its chat template, a stream."""

import logging
from typing import Any
from weakref import WeakValueDictionary

from langchain_core.language_models import BaseChatModel

from langgraph_rag.models.bindings import AnyModel, bound_options, models_in
from langgraph_rag.models.connections import address, is_openai

_log = logging.getLogger(__name__)
_SHORT_REPLY = 512  # tokens, in which nearly all replies end


class Refusals:
    """The models that refused something, in this process; of each it is told once, in the words given."""

    def __init__(self, told: str) -> None:
        self._told = told
        self._models: WeakValueDictionary[int, Any] = WeakValueDictionary()

    def __contains__(self, llm: AnyModel) -> bool:
        return id(_one_model(llm)) in self._models

    def add(self, llm: AnyModel) -> None:
        """Note that a model, or its server, refuses it, and log that once."""
        if llm not in self:
            model = _one_model(llm)
            self._models[id(model)] = model
            _log.warning(self._told, address(llm) or type(model).__name__)


schema_refusals = Refusals("%s refuses response_format: its replies are no longer asked for by JSON schema")
system_refusals = Refusals("%s refuses system messages: instructions now stand in the user's")
stream_refusals = Refusals("%s does not stream: its replies are no longer asked for piece by piece")
template_refusals = Refusals("%s refuses chat_template_kwargs: its chat template is no longer told anything")


def schema_options(llm: AnyModel, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the options that ask a model for JSON by schema; none for one that cannot, or has refused it.

    Those on OpenAI's client are taken to be able to, others where LangChain's profile of them says so. Several that
    stand in for each other are not, because each may take it, or refuse it, in its own way.

    Given a `response_format` by its name, OpenAI's client walks through the whole schema at each call, which takes a
    seventh of the call's processor time, and withholds replies that were cut off: there it goes into the request as it
    is. What the model has, or is bound to it, stands.
    """
    model, bound = _one_model(llm), bound_options(llm)
    able = is_openai(model) or isinstance(model, BaseChatModel) and (model.profile or {}).get("structured_output")
    if not able or llm in schema_refusals or "response_format" in bound:
        return {}
    form = {"response_format": {"type": "json_schema", "json_schema": {"name": name, "schema": schema}}}
    if not is_openai(model) or model.use_responses_api:  # which has another place for it
        return form
    return {"extra_body": {**form, **(bound.get("extra_body", model.extra_body) or {})}}


def shorter_reply(llm: AnyModel) -> dict[str, Any]:
    """Return the options that ask a model on OpenAI's client for a shorter reply, none where it asks for such a one."""
    model, bound = _one_model(llm), bound_options(llm)
    if not is_openai(model) or (bound.get("max_tokens", model.max_tokens) or 0) <= _SHORT_REPLY:
        return {}
    return {"max_tokens": _SHORT_REPLY}


def without_template_options(llm: AnyModel, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a call without those of the chat template, whether call, binding or model has them."""
    model = _one_model(llm)
    if not is_openai(model):
        return options
    body = {"extra_body": model.extra_body, **bound_options(llm), **options}["extra_body"] or {}
    others = {name: value for name, value in body.items() if name != "chat_template_kwargs"}
    return options if others == body else {**options, "extra_body": others}


def _one_model(llm: AnyModel) -> Any:
    """Return the model that is asked, or the whole where there are several."""
    first, *others = models_in(llm)
    return llm if others else first
