# `make` prints the targets. build, demo and test need Go alone; race needs a C
# compiler, conformance node and npm. GOFLAGS and the other variables of Go hold.

GO ?= go
# PKGS are the packages that test, race and fuzz look at; RACEFLAGS are flags of race.
PKGS ?= ./...
# SEED is where tests that draw random cases begin, so that a run can be repeated. 0 begins
# elsewhere each time.
SEED ?= 1
# CHECKS is how many cases each of them draws.
CHECKS ?= 100
# FUZZTIME is how long each fuzz target runs.
FUZZTIME ?= 10s
# CRASHCOUNT is how often the crash tests run.
CRASHCOUNT ?= 10
# BENCHTIME is how long, or with x how often, each benchmark runs. REFERENCE_BINARY, in the
# environment, names the program of the reference implementation, which lists and searches
# are measured of, too; APPSERVER_BENCH_HOMES a folder that keeps 50,000 threads for them.
BENCHTIME ?= 1s

.DEFAULT_GOAL := help
.PHONY: help build mac verify sbom demo generate check test race fuzz crash bench conformance clean

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

build: ## build bin/appserver, a static binary, and bin/codex, a link to it
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o bin/appserver ./cmd/appserver
	ln -sf appserver bin/codex

mac: ## build bin/appserver-mac, which serves all but commands
	CGO_ENABLED=0 GOOS=darwin $(GO) build -trimpath -ldflags "-s -w" -o bin/appserver-mac ./cmd/appserver

verify: ## compare the modules that were downloaded with go.sum
	$(GO) mod verify

sbom: build ## list what bin/appserver is made of, with hashes, in bin/appserver.sbom.json
	$(GO) version -m -json bin/appserver > bin/appserver.sbom.json

demo: build ## run a conversation with the built-in offline provider
	$(GO) run ./docs/demo bin/appserver

generate: ## write the schema files from package protocol
	$(GO) run ./schema/gen

check: ## format, vet, static analysis, the rules of the house, generated files up to date
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "not formatted, run gofmt -w on:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags reference ./schema/... ./cmd/appserver
	$(GO) tool staticcheck ./...
	$(GO) test -count=1 -run '^TestHouse' ./cmd/appserver
	$(GO) test ./schema/...

# random are the packages of PKGS whose tests draw cases: others do not know the flag.
random = $(shell $(GO) list -f '{{range .TestImports}}{{.}} {{end}}{{range .XTestImports}}{{.}} {{end}}{{.ImportPath}}' $(PKGS) | awk '/pgregory.net\/rapid/ { print $$NF }')
plain = $(filter-out $(random),$(shell $(GO) list $(PKGS)))
# each tests the packages of both kinds, with a command.
each = failed=0; $(if $(plain),$(1) $(plain) || failed=1;) $(if $(random),$(1) $(random) -rapid.seed=$(SEED) -rapid.checks=$(CHECKS) || failed=1;) exit $$failed

test: build ## run all tests
	@$(call each,$(GO) test)

race: ## run all tests under the race detector
	@$(call each,CGO_ENABLED=1 $(GO) test -race $(RACEFLAGS))

# go test fuzzes one target of one package at a time, so they are listed first.
fuzz: ## run each fuzz target for FUZZTIME
	@list=$$($(GO) test -list '^Fuzz' $(PKGS)) || { echo "$$list"; exit 1; }; \
	echo "$$list" | awk '/^Fuzz/ { name[n++] = $$1 } $$1 == "ok" { for (i = 0; i < n; i++) print $$2, name[i]; n = 0 }' | \
	while read -r pkg name; do \
		echo "$$pkg $$name"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x "$$pkg" </dev/null || exit 1; \
	done

crash: ## run the crash tests CRASHCOUNT times
	$(GO) test -run Crash -count=$(CRASHCOUNT) ./cmd/appserver

bench: ## run the benchmarks of the whole server, of captures of worktrees, and of retrieval
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) -timeout 60m ./cmd/appserver ./core/worktree ./core/memory

conformance: ## compare with the reference implementation, let its clients use the server, and run all tests by its schema
	bash .ci/conformance
	bash .ci/conformance $(MAKE) test

clean: ## remove what was built
	rm -rf bin
