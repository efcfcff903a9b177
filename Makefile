# `make` prints the targets. build, demo and test need Go alone; race needs a C
# compiler, conformance node and npm. GOFLAGS and the other variables of Go hold.

GO ?= go
# PKGS are the packages that test, test-all, race and fuzz look at; TESTFLAGS and RACEFLAGS are
# flags of tests with and without the race detector.
PKGS ?= ./...
# SEED is where tests that draw random cases begin, so that a run can be repeated. 0 begins
# elsewhere each time.
SEED ?= 1
# CHECKS is how many cases each of them draws, STEPS how long a case is about. test draws less.
CHECKS ?= 100
STEPS ?= 30
# PARALLEL is how many tests of a package with whole servers run at once: most of them wait.
PARALLEL ?= 8
# FUZZTIME is how long each fuzz target runs.
FUZZTIME ?= 10s
# FUZZCACHE is where what a target found worth trying again is kept. An empty folder repeats no
# former run.
FUZZCACHE ?= $(shell $(GO) env GOCACHE)/fuzz
# FUZZBUILD has the compiler count what a program covers, by which a long run finds its way. A
# short one is over before that helps.
FUZZBUILD ?= -fuzz .
# CRASHCOUNT is how often the crash tests run, each time in new homes; CRASHES how often the
# server is killed in the one home that lives through all of it.
CRASHCOUNT ?= 3
CRASHES ?= 500
# SOAK is how long the soak lasts. Among all tests it lasts 20 seconds.
SOAK ?= 1h
# BENCHTIME is how long, or with x how often, each benchmark runs. REFERENCE_BINARY, in the
# environment, names the program of the reference implementation, which lists and searches
# are measured of, too; APPSERVER_BENCH_HOMES a folder that keeps 50,000 threads for them.
BENCHTIME ?= 1s
# ROWS are the groups of rows that bench-peer measures. APPSERVER_BENCH_ROUNDS, in the
# environment, bounds how often (5), APPSERVER_BENCH_MB (5,49,1000) and APPSERVER_BENCH_THREADS
# (2000,10000,50000) name the sizes of what is resumed and listed.
ROWS ?= .*

.DEFAULT_GOAL := help
.PHONY: help build mac demo generate check test test-all race fuzz crash soak bench bench-peer conformance verify sbom clean

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

build: ## build bin/appserver, a static binary, and bin/codex, a link to it
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o bin/appserver ./cmd/appserver
	ln -sf appserver bin/codex

mac: ## build bin/appserver-mac, which serves all but commands
	CGO_ENABLED=0 GOOS=darwin $(GO) build -trimpath -ldflags "-s -w" -o bin/appserver-mac ./cmd/appserver

verify: ## compare the modules that were downloaded with go.sum
	$(GO) mod verify

# Those that cdxgen finds in the source must be those that the program says it has. Its scripts
# are not run, nor its parts for other languages fetched.
sbom: build ## list what bin/appserver is made of in CycloneDX's form, with licences and hashes
	npm exec --yes --ignore-scripts --omit=optional -- @cyclonedx/cdxgen@12.8.4 -t go --no-recurse --no-install-deps -o bin/appserver.cdx.json .
	@$(GO) version -m bin/appserver | awk '$$1 == "dep" { print "pkg:golang/" $$2 "@" $$3 }' | while read -r module; do \
		grep -qiF "\"purl\":\"$$module\"" bin/appserver.cdx.json || { echo "bin/appserver.cdx.json lacks $$module"; exit 1; }; \
	done

demo: build ## run a conversation with the built-in offline provider
	$(GO) run ./docs/demo bin/appserver

generate: ## write the schema files and docs/methods.md from package protocol
	$(GO) run ./schema/gen

check: ## format, vet, static analysis, the rules of the house, generated files up to date
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "not formatted, run gofmt -w on:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags reference ./schema/... ./test/...
	$(GO) tool staticcheck ./...
	$(GO) test -count=1 -run '^TestHouse' ./test/house
	$(GO) test ./schema/...

# whole are the packages of PKGS that test the program as a whole, random those whose tests draw
# cases: only these know rapid's flags. plain are all others.
listed = $(shell $(GO) list $(PKGS))
whole = $(filter appserver/test/%,$(listed))
random = $(filter-out $(whole),$(shell $(GO) list -f '{{range .TestImports}}{{.}} {{end}}{{range .XTestImports}}{{.}} {{end}}{{.ImportPath}}' $(PKGS) | awk '/pgregory.net\/rapid/ { print $$NF }'))
plain = $(filter-out $(random) $(whole),$(listed))
# each tests the packages of each kind with one command.
each = failed=0; \
	$(if $(whole),$(1) -parallel $(PARALLEL) $(whole) || failed=1;) \
	$(if $(plain),$(1) $(plain) || failed=1;) \
	$(if $(random),$(1) $(random) -rapid.seed=$(SEED) -rapid.checks=$(CHECKS) -rapid.steps=$(STEPS) || failed=1;) \
	exit $$failed

# With -short, rapid draws a fifth of the cases.
test: CHECKS = 50
test: STEPS = 15
test: build ## run the tests of every change, in minutes
	@$(call each,$(GO) test -short $(TESTFLAGS))

test-all: build ## run all tests
	@$(call each,$(GO) test $(TESTFLAGS))

race: ## run all tests under the race detector
	@$(call each,CGO_ENABLED=1 $(GO) test -race $(RACEFLAGS))

# go test -fuzz links a program anew for each target: here each package has one, which runs its
# targets one after the other. It runs in the package's folder, where it keeps crashers.
fuzz: ## run each fuzz target for FUZZTIME
	@programs=$$(mktemp -d) && trap 'rm -rf "$$programs"' EXIT && \
	packages=$$($(GO) list -f '{{.ImportPath}} {{.Dir}}' $(PKGS)) && echo "$$packages" | while read -r pkg dir; do \
		names=$$(cat "$$dir"/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[^(]*\)(.*/\1/p'); \
		[ -n "$$names" ] || continue; \
		$(GO) test -c $(FUZZBUILD) -o "$$programs/fuzz" "$$pkg" || exit 1; \
		for name in $$names; do \
			echo "$$pkg $$name"; \
			(cd "$$dir" && "$$programs/fuzz" -test.run '^$$' -test.fuzz "^$$name\$$" -test.fuzztime $(FUZZTIME) \
				-test.fuzzminimizetime 20x -test.fuzzcachedir "$(FUZZCACHE)/$$pkg" </dev/null) || exit 1; \
		done; \
	done

crash: ## kill the server CRASHES times in one home, and run the other crash tests CRASHCOUNT times
	$(GO) test -count=1 -v -timeout 90m -run '^TestCrashSoak$$' ./test/crash -soak.kills=$(CRASHES)
	$(GO) test -run Crash -count=$(CRASHCOUNT) -timeout 60m ./test/crash

soak: ## have clients do anything at random for SOAK, and draw what the server takes in docs/soak.svg
	SOAK=$(SOAK) SOAK_DIR=$(CURDIR)/docs $(GO) test -run '^TestSoak$$' -count=1 -v -timeout 0 ./test/e2e

bench: ## run the benchmarks of the whole server, of captures of worktrees, and of retrieval
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) -timeout 60m ./test/bench ./core/worktree ./core/memory

bench-peer: ## measure us and the reference implementation by one script, in a table; ROWS=start|stream|turns50|turns200|context|resume49|list2000… for some of it
	bash .ci/conformance $(GO) test -count=1 -tags reference -run 'TestBesideTheReference/^($(ROWS))$$' -timeout 3h -v ./test/bench

conformance: ## compare with the reference implementation, let its clients use the server, and run all tests by its schema
	bash .ci/conformance
	bash .ci/conformance $(MAKE) test-all

clean: ## remove what was built
	rm -rf bin
