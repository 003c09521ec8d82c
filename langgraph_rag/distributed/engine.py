"""Facts read by vLLM engines on the GPUs of a cluster, without a server: `ray.data.llm` runs them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from langchain_core.messages import BaseMessage

from langgraph_rag.distributed.cluster import imported_ray
from langgraph_rag.models.replies import read_part, read_reply
from langgraph_rag.nodes.extract_triples import batches, readings_of, version_of
from langgraph_rag.prompts.cirag import EXTRACT_FACTS, FactsOfPassages
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Record
from langgraph_rag.tools.ingest.stages import Row, checked_facts, to_arrow

_ERROR = "__inference_error__"  # the column of `ray.data.llm`
_ROLES = {"system": "system", "human": "user", "ai": "assistant"}


@dataclass(frozen=True)
class Engine:
    """A model that vLLM runs on the GPUs of the cluster; its facts are those of the same model on a server.

    Attributes:
        model: its name on the hub, or a folder that all machines have.
        replicas: how many engines.
        gpus: GPUs of each engine, between which vLLM divides the model.
        engine_kwargs: other arguments of vLLM, such as `max_model_len`.
        calls: prompts handed to an engine together; it batches them itself.
        patience: seconds without any sign of life, as loading a large model takes minutes.
        prompt: asks for the facts of several passages.
    """

    model: str
    replicas: int = 1
    gpus: int = 1
    engine_kwargs: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 64
    patience: float = 1_800.0
    prompt: Prompt[FactsOfPassages] = EXTRACT_FACTS

    @property
    def version(self) -> str:
        """The version of the extractor, as of the same model on a server."""
        return version_of(self.model, self.prompt)

    def config(self) -> Any:
        """Return the configuration of the engines for `ray.data.llm`."""
        imported_ray()
        from ray.data.llm import vLLMEngineProcessorConfig

        return vLLMEngineProcessorConfig(
            model_source=self.model,
            engine_kwargs={
                "enable_prefix_caching": True,  # all prompts begin alike
                "tensor_parallel_size": self.gpus,
                "max_model_len": 8_192,
                **self.engine_kwargs,
            },
            concurrency=self.replicas,
            batch_size=self.calls,
            should_continue_on_error=True,
            chat_template_stage={"chat_template_kwargs": {"enable_thinking": False}},
        )

    def dataset(self, rows: Sequence[Row], *, alone: bool = False) -> Any:
        """Return a dataset of the rows that an engine read, with their facts; those it failed on are left out.

        Args:
            rows: stored passages with their sentences.
            alone: whether each passage gets a call of its own.
        """
        ray = imported_ray()
        from ray.data.llm import build_processor

        groups = [[row] for row in rows] if alone else list(batches([cast(Record, row) for row in rows]))
        process = build_processor(
            self.config(),
            preprocess=partial(request, prompt=self.prompt),
            postprocess=lambda row: {"call": row["call"], "reply": row["generated_text"]},
        )
        calls = ray.data.from_items([{"call": json.dumps(group)} for group in groups])
        return process(calls).map_batches(
            partial(read_replies, prompt=self.prompt, version=self.version), batch_format="pyarrow"
        )


def request(row: Mapping[str, Any], prompt: Prompt[FactsOfPassages]) -> dict[str, Any]:
    """Return a call as `ray.data.llm` takes it: messages, and the JSON schema that the reply must have."""
    passages = [{"title": each["title"], "sentences": each["sentences"]} for each in json.loads(row["call"])]
    return {
        "call": row["call"],
        "messages": [_message(message) for message in prompt.render(passages=passages)],
        "sampling_params": {
            "temperature": 0.0,
            "max_tokens": 2_048,
            "structured_outputs": {"json": json.dumps(prompt.reply.model_json_schema())},
        },
    }


def _message(message: BaseMessage) -> dict[str, str]:
    return {"role": _ROLES[message.type], "content": message.text}


def read_replies(table: Any, prompt: Prompt[FactsOfPassages], version: str) -> Any:
    """Return the passages of calls with the facts that each states; those that a reply does not have are left out."""
    found = list[Row]()
    for row in table.to_pylist():
        if row.get("call") is None or row.get(_ERROR) or not row.get("reply"):
            continue
        passages = [cast(Record, passage) for passage in json.loads(row["call"])]
        try:
            reply: FactsOfPassages | None = read_reply(row["reply"], prompt.reply)
        except ValueError:
            reply = read_part(row["reply"], prompt.reply)
        if reply is not None:
            found += checked_facts(version, readings_of(reply, passages), passages)
    return to_arrow(found)
