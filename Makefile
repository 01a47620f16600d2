# `make` lists the targets below.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Some of the tests, by a regular expression, as `swift test --filter` takes it.
FILTER ?=

.PHONY: help setup quickstart build test check example friendvatars soak fuzz bench lint format install install-security uninstall clean

PREFIX ?= /usr/local
SECONDS ?= 600
DESTDIR ?=
BINDIR = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share
# One executable that runs on machines without Swift.
RELEASE = $$(Scripts/release-flags.sh)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what builds and tests need and is missing
	Scripts/setup.sh --tests

quickstart: ## Set up, build, and take one secret through its life
	@Scripts/quickstart.sh

build: ## Build everything for debugging
	Scripts/setup.sh
	swift build

test: ## Run every check, for contributors: format, warnings, tests, conformance, names
	@Scripts/test.sh

check: ## Run the fast part of it while working: format, warnings, tests; FILTER=VaultTests for some of the tests
	@FILTER='$(FILTER)' Scripts/test.sh --fast

example: ## Build and run the examples: a personal vault, and mutual TLS in the software enclave and in a TPM
	Scripts/setup.sh --example
	Examples/run.sh

friendvatars: ## Build and serve Friendvatars, an example web app, at https://localhost:8443 with data in ~/.local/share/friendvatars
	Scripts/setup.sh
	Examples/friendvatars.sh

soak: ## Run the long tests at full counts
	Scripts/setup.sh --peers
	Scripts/soak.sh

fuzz: ## Try damaged input on each parser for SECONDS=600 each
	Scripts/setup.sh --tests
	Scripts/fuzz.sh $(SECONDS)

bench: ## Run the benchmarks
	Scripts/setup.sh
	Benchmarks/run.sh

lint: ## Check the format of every Swift file
	Scripts/format.sh --check

format: ## Format every Swift file
	Scripts/format.sh

install: ## Build for release and install keychain and keychaind under PREFIX (DESTDIR is honoured)
	Scripts/setup.sh
	swift build $(RELEASE) --product keychain
	DESTDIR="$(DESTDIR)" Scripts/install.sh "$$(swift build $(RELEASE) --show-bin-path)" "$(DESTDIR)$(PREFIX)"

install-security: install ## And install it under the name of Apple's command, security
	ln -sf keychain "$(BINDIR)/security"

uninstall: ## Remove what install put under PREFIX
	Scripts/install.sh --remove "$(DESTDIR)$(PREFIX)"

clean: ## Remove everything that was built
	rm -rf .build .build-* Examples/*/.build
