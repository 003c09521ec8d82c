PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Torch first: whatever asks for it later is content with the build that is there. PyPI's for Linux brings several gigabytes
# of CUDA packages along; `make help` names the build for the CPU.
TORCH ?= torch==2.13.0
EXTRAS := chat,minilm,openai,transformers,plots,checkpoints,postgres,studio,docs,dev

# A later pip than the one that comes with Python 3.11 chooses the versions in less than half the time.
# It compiles nothing (--no-compile), as most modules are never imported: each is when it first is, which has to be kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo browser screenshots test lint format types docs record clean

help:
	@echo "make demo    index the sample corpus and answer five questions, step by step"
	@echo "             on Linux without a GPU: make demo TORCH=\"torch --index-url https://download.pytorch.org/whl/cpu\""
	@echo "make test    run the tests"
	@echo "make browser install Chromium (Debian, as root), in which the chat page is tested; make screenshots for docs/images"
	@echo "make lint    check style and types; make format puts style right"
	@echo "make docs    build the documentation into site/"
	@echo "make record  record anew how a served model answers (VLLM_BASE_URL, MODEL; RECORD=options of tests/record.py)"

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --upgrade pip
	$(BIN)/pip install --quiet --no-compile $(TORCH)
	$(BIN)/pip install --quiet --no-compile --editable '.[$(EXTRAS)]'
	touch $@

demo: $(VENV)/installed
	$(BIN)/langgraph-rag demo --kb demo_kb

# The chat page is tested in Chromium; where there is none and none can be installed, those tests are skipped.
browser:
	@command -v chromium >/dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium >/dev/null; \
	} || echo "Chromium cannot be installed here: the tests of the chat page will be skipped"

screenshots: browser $(VENV)/installed
	UPDATE_SCREENSHOTS=1 $(BIN)/pytest tests/test_chat_page.py -k picture

# Each of the two workers has a core; with more threads they would wait for each other.
test: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

record: $(VENV)/installed
	$(BIN)/python tests/record.py $(RECORD)

docs: $(VENV)/installed
	PYTHONPATH=docs $(BIN)/zensical build --strict --clean
	@echo "To read and search it: python -m http.server -d site, then http://localhost:8000"

clean:
	rm -rf $(VENV) demo_kb .pytest_cache .mypy_cache .ruff_cache .langgraph_api .cache site
