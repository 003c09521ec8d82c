"""Indexing and evaluation on the machines of a Ray cluster, into the same knowledge bases as on one machine."""

from langgraph_rag.distributed.asking import graphs_on_ray
from langgraph_rag.distributed.cluster import cluster
from langgraph_rag.distributed.engine import Engine
from langgraph_rag.distributed.indexing import Estimate, Job, Report, estimate, index

__all__ = ["Engine", "Estimate", "Job", "Report", "cluster", "estimate", "graphs_on_ray", "index"]
