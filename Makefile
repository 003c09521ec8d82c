PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The CPU build of torch first: whatever asks for torch later is content with it and brings no GPU packages along.
TORCH ?= torch==2.13.0
EXTRAS := minilm,openai,plots,checkpoints,studio,dev

.PHONY: help demo test lint format types docs bench clean

help:
	@echo "make demo    index the sample corpus and answer five questions, step by step"
	@echo "make test    run the tests"
	@echo "make lint    check style and types; make format puts style right"
	@echo "make bench   run the benchmarks (minutes; needs DATA=folder with corpora, see benchmarks/README.md)"

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet $(TORCH)
	$(BIN)/pip install --quiet --editable '.[$(EXTRAS)]'
	touch $@

demo: $(VENV)/installed
	$(BIN)/langgraph-rag demo --kb demo_kb

test: $(VENV)/installed
	$(BIN)/pytest

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) demo_kb .pytest_cache .mypy_cache .ruff_cache .langgraph_api
