# `make` lists the targets below.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Some of the tests, by a regular expression, as `swift test --filter` takes it.
FILTER ?=
# Where the site of `make docs` is at its host, and where its links to sources lead.
BASE ?=
SOURCE ?=

.PHONY: help setup quickstart build test check example friendvatars soak fuzz bench docs house lint format programs install \
	network network-programs install-security uninstall deb image packages-check release clean

PREFIX ?= /usr/local
SECONDS ?= 600
# The share of the full counts that `make soak` runs.
SCALE ?= 1
DESTDIR ?=
BINDIR = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share
# One executable that runs on machines without Swift.
RELEASE = $$(Scripts/install/release-flags.sh)
NETWORK = $(RELEASE) --scratch-path .build-network --traits HTTPClientSupport

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what builds and tests need and is missing
	Scripts/install/setup.sh --tests

quickstart: ## Set up, build, and take one secret through its life
	@Scripts/install/quickstart.sh

build: ## Build everything for debugging
	Scripts/install/setup.sh
	swift build

test: ## Run every check, for contributors: format, warnings, tests, conformance, names
	@Scripts/check/test.sh

check: ## Run the fast part of it while working: format, warnings, tests; FILTER=VaultTests for some of the tests
	@FILTER='$(FILTER)' Scripts/check/test.sh --fast

example: ## Build and run the examples: a personal vault, and mutual TLS in the software enclave and in a TPM
	Scripts/install/setup.sh --example
	Examples/run.sh

friendvatars: ## Build and serve Friendvatars, an example web app, at https://localhost:8443 with data in ~/.local/share/friendvatars
	Scripts/install/setup.sh
	Examples/friendvatars.sh

soak: ## Run all tests at full counts, which takes a day; SCALE=0.1 for a tenth of them, FILTER=VaultTests for some of the tests
	Scripts/install/setup.sh --peers
	SCALE='$(SCALE)' Scripts/check/soak.sh '$(FILTER)'

fuzz: ## Try damaged input on each parser for SECONDS=600 each
	Scripts/install/setup.sh --tests
	Scripts/check/fuzz.sh $(SECONDS)

bench: ## Run the benchmarks
	Scripts/install/setup.sh
	Benchmarks/run.sh

docs: ## Build the site of all products and guides in .build-docs/site; BASE=/PATH at the host, SOURCE=URL of the sources
	@Scripts/docs/docs.sh --base '$(BASE)' --source '$(SOURCE)'

house: ## Write the tables of Documentation/House.md
	@. Scripts/check/checks.sh && KEYCHAIN_WRITE_HOUSE=1 swift test "$${flags[@]}" "$${traits[@]}" --filter FloorTests/thePageIsTrue

lint: ## Check the format of every Swift file
	Scripts/check/format.sh --check

format: ## Format every Swift file
	Scripts/check/format.sh

programs:
	Scripts/install/setup.sh
	swift build $(RELEASE) --product keychain
	swift build $(RELEASE) --target PKCS11Module

install: programs ## Build for release and install keychain, keychaind and libkeychain-pkcs11.so under PREFIX (DESTDIR is honoured)
	DESTDIR="$(DESTDIR)" Scripts/install/install.sh "$$(swift build $(RELEASE) --show-bin-path)" "$(DESTDIR)$(PREFIX)"

network-programs:
	Scripts/install/setup.sh
	swift build $(NETWORK) --product keychain-sync
	swift build $(NETWORK) --product keychain-broker

network: network-programs ## Build the programs that speak to the network, keychain-sync and keychain-broker, and install them under PREFIX
	DESTDIR="$(DESTDIR)" Scripts/install/install.sh --network "$$(swift build $(NETWORK) --show-bin-path)" "$(DESTDIR)$(PREFIX)"

install-security: install ## And install it under the name of Apple's command, security
	ln -sf keychain "$(BINDIR)/security"

uninstall: ## Remove what install put under PREFIX
	Scripts/install/install.sh --remove "$(DESTDIR)$(PREFIX)"

deb: programs network-programs ## Build for release and make two packages for Debian in .build-packages
	Scripts/install/setup.sh --packages
	Scripts/install/debian.sh "$$(swift build $(RELEASE) --show-bin-path)" .build-packages "$$(swift build $(NETWORK) --show-bin-path)"

image: deb ## And make a container image of the daemon of it
	Scripts/install/image.sh .build-packages/swift-keychain_$$(Scripts/install/version.sh)_$$(dpkg --print-architecture).deb .build-packages

packages-check: image ## And try both: on machines with Debian 12 and 13, and in containers
	Scripts/check/packages.sh "$$(swift build $(RELEASE) --show-bin-path)"

release: ## Check, build, list, sum and sign the files of a version, and print the tag to push
	Scripts/release/release.sh

clean: ## Remove everything that was built
	rm -rf .build .build-* Examples/*/.build
