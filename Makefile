# `make` prints the targets. build, demo and test need Go only; race needs a C compiler, conformance
# needs node and npm. The variables of Go, such as GOFLAGS, apply.

GO ?= go
# PKGS is the packages of test, test-all, race and fuzz. TESTFLAGS are the flags of test and
# test-all, RACEFLAGS the ones of race.
PKGS ?= ./...
# SEED is the seed of tests that draw random cases. 0 is a new seed for each run.
SEED ?= 1
# CHECKS is the number of cases of each random test, STEPS the average length of a case. test has
# smaller values.
CHECKS ?= 100
STEPS ?= 30
# FUZZTIME is the time of each fuzz target, or with x its number of inputs.
FUZZTIME ?= 10s
# FUZZCACHE has the inputs that reached new code in earlier runs.
FUZZCACHE ?= $(shell $(GO) env GOCACHE)/fuzz
# FUZZBUILD makes the compiler measure coverage, which guides a fuzz target. A short run ends before
# that helps.
FUZZBUILD ?= -fuzz .
# CRASHCOUNT is the number of runs of the crash tests, each in a new home. CRASHES is the number of
# kills of the soak test, all in one home.
CRASHCOUNT ?= 3
CRASHES ?= 500
# ATTACK is the time of each race of make attack. In test-all it is 2 seconds.
ATTACK ?= 30s
# SOAK is the time of the soak test. In test-all it runs for 20 seconds.
SOAK ?= 1h
# FLEETSOAK is the time of the soak test of several servers, which is 20 seconds in test-all.
FLEETSOAK ?= 1h
# BENCHTIME is the time of each benchmark, or with x its number of iterations. In the environment,
# REFERENCE_BINARY names the program of the reference implementation, to measure its lists and
# searches as well, and APPSERVER_BENCH_HOMES a folder for the homes with 50,000 threads.
BENCHTIME ?= 1s
# ROWS selects groups of rows of bench-peer and bench-store. In the environment, APPSERVER_BENCH_ROUNDS is the
# maximum number of rounds (5), APPSERVER_BENCH_MB has the sizes of resumed rollouts (5,49,1000),
# and APPSERVER_BENCH_THREADS the lengths of lists (2000,10000,50000).
ROWS ?= .*
# TARGETS are the systems and processors of a release.
TARGETS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
# EXCLUDE are the targets that a release leaves out.
EXCLUDE ?=
# VERSION is the version of a release. Empty, it is the tag of the commit, or 0.0.0-dev.gCOMMIT.
VERSION ?=
# PUBLISHER has names under which a release is published: -homepage ADDRESS, -maintainer 'NAME <MAIL>' and
# -npm NAME.
PUBLISHER ?=
# MACARCH is the processor of the Mac: arm64 or amd64.
MACARCH ?= arm64

# WINARCH is the processor of the Windows program: amd64 or arm64.
WINARCH ?= amd64

.DEFAULT_GOAL := help
.PHONY: help build mac windows windows-test demo demo-web generate models check types test test-all test-postgres test-posix race fuzz crash soak fleet-soak bench bench-economy bench-growth bench-peer bench-store bench-web bench-hour conformance \
	attack vscode vscode-e2e verify sbom release test-release vendor-web clean

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

build: ## build bin/appserver, a static binary, and bin/codex, a link to it
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o bin/appserver ./cmd/appserver
	ln -sf appserver bin/codex

mac: ## build bin/appserver-mac for MACARCH, and check the packages with code for macOS
	CGO_ENABLED=0 GOOS=darwin GOARCH=$(MACARCH) $(GO) build -trimpath -ldflags "-s -w" -o bin/appserver-mac ./cmd/appserver
	GOOS=darwin GOARCH=$(MACARCH) $(GO) vet ./core/effects/host ./core/effects/sandbox ./core/effects/tool

windows: ## build bin/appserver.exe for WINARCH, and check all packages with it
	CGO_ENABLED=0 GOOS=windows GOARCH=$(WINARCH) $(GO) build -trimpath -ldflags "-s -w" -o bin/appserver.exe ./cmd/appserver
	CGO_ENABLED=0 GOOS=windows GOARCH=$(WINARCH) $(GO) vet ./...

windows-test: ## run the tests of packages that depend on the system for Windows, with Wine
	bash .ci/wine/run

verify: ## compare the modules that were downloaded with go.sum
	$(GO) mod verify

sbom: build ## list the components of bin/appserver as CycloneDX, with licences and hashes
	$(GO) run ./deploy/release -sbom bin/appserver.cdx.json bin/appserver

release: ## build archives and packages of all TARGETS in bin/release
	$(GO) run ./deploy/release -targets "$(TARGETS)" -exclude "$(EXCLUDE)" -version "$(VERSION)" $(PUBLISHER)

# RELEASE is a folder of make release. Without it, the test makes a release of this platform from the commit, twice.
test-release: ## install each artefact of a release and run the demo with it; needs npm, dpkg and ruby
	APPSERVER_RELEASE="$(if $(RELEASE),$(abspath $(RELEASE)),make)" $(GO) test -count=1 -v ./test/release

vendor-web: ## copy the libraries of the page from npm into web/vendor; PACKAGES=NAME@VERSION changes a version
	node web/vendor.mjs $(PACKAGES)

demo: build ## run a conversation with the built-in offline provider
	$(GO) run ./docs/demo bin/appserver

demo-web: build ## open the workbench with a prepared conversation; PICTURES=FOLDER writes pictures of it instead
	$(if $(PICTURES),WORKBENCH_PICTURES=$(abspath $(PICTURES)) $(GO) test -count=1 -run '^TestLooks' ./test/workbench, \
		$(GO) run ./docs/demo -web bin/appserver)

generate: ## write the schema files and docs/methods.md from package protocol, and build the page of web
	$(GO) run ./schema/gen
	$(GO) run ./web/gen

# SOURCE is the catalogue of models.dev, an address or a file, and DATE its date: today if it comes from the network.
SOURCE ?= https://models.dev/api.json
DATE ?=

models: ## write the table of models from the catalogue of models.dev, or from SOURCE=FILE DATE=YYYY-MM-DD
	$(GO) run ./core/effects/modeltable/gen -source "$(SOURCE)" $(if $(DATE),-date $(DATE))

check: ## format, vet, static analysis, the rules of the house, generated files up to date
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "not formatted, run gofmt -w on:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags reference ./schema/... ./test/...
	$(GO) tool staticcheck ./...
	$(GO) test -count=1 -run '^TestHouse' ./test/house
	$(GO) test ./schema/... ./web/...

# Package test/sample reads these.
export RAPID_SEED = $(SEED)
export RAPID_CHECKS = $(CHECKS)
export RAPID_STEPS = $(STEPS)

# slow are the packages that take longest. They start first; many of their tests wait, so more
# packages than processors run at once.
slow = $(addprefix appserver/,test/e2e core/effects/host core/effects/tool core/effects/mcp core/effects/codeindex core/effects/model)
listed = $(shell $(GO) list $(PKGS))
ordered = $(filter $(slow),$(listed)) $(filter-out $(slow),$(listed))

# esbuild removes types without checking them. npm puts the programs and the types of packages below one folder.
types: ## check the types of the page and of the extension; npm downloads TypeScript
	npm exec --yes --package=typescript@7.0.2 --package=@types/node@20.19.0 --package=@types/vscode@1.90.0 -- sh -c \
		'tsc -p web/tsconfig.json && tsc -p editors/vscode/tsconfig.json --typeRoots "$$(dirname "$$(dirname "$$(command -v tsc)")")/@types"'

vscode: ## build bin/appserver.vsix, the extension for Visual Studio Code; TARGET=linux/amd64 adds the program of that system
	mkdir -p bin
	$(GO) run ./editors/vscode/gen $(if $(TARGET),-target $(TARGET)) bin/appserver$(if $(TARGET),-$(subst /,-,$(TARGET))).vsix

vscode-e2e: build ## test the extension in code-server, which npm installs, with Chromium; PICTURES=FOLDER writes pictures
	VSCODE_PICTURES=$(if $(PICTURES),$(abspath $(PICTURES))) bash .ci/vscode $(GO) test -count=1 -v ./test/vscode

# With -short, rapid draws a fifth of the cases.
test: CHECKS = 50
test: STEPS = 15
test: build ## run the tests of every change, in minutes
	$(GO) test -short -vet=off -p 4 $(TESTFLAGS) $(ordered)

# check runs vet, so these do not.
test-all: build ## run all tests
	$(GO) test -vet=off $(TESTFLAGS) $(ordered)

# With the tag posix, commands run on Linux by the code for macOS. POSIXTESTS are the end-to-end tests of commands; . selects
# all. The two calls run at once, because many tests wait.
POSIXTESTS ?= Exec|Command|Terminal|Shutdown|Interrupt|Session|Disconnect|Spawn

test-posix: ## run the tests of commands on Linux by the code for macOS
	@export GOFLAGS="$(GOFLAGS) -tags=posix"; \
	$(GO) test -short -vet=off $(TESTFLAGS) ./core/effects/tool ./core/effects/host ./core/effects/sandbox & packages=$$!; \
	$(GO) test -short -vet=off $(TESTFLAGS) -run '$(POSIXTESTS)' ./test/e2e; status=$$?; \
	wait $$packages && exit $$status

# In the environment, APPSERVER_TEST_STORE=postgres gives each home of a test a database. Tests of what needs files are
# skipped: docs/fleet.md lists it. They are printed by way of a file, because the go command hides the output of tests
# that pass. With .ci/conformance, which sets REFERENCE_CLIENTS, the clients of test/interchange run, too, and messages
# are validated.
test-postgres: build ## run the end-to-end tests, the transcripts and the clients with threads in PostgreSQL
	@skips=$$(mktemp) && trap 'rm -f "$$skips"' EXIT; \
	APPSERVER_TEST_STORE=postgres APPSERVER_TEST_SKIPS="$$skips" $(GO) test -short -vet=off -timeout 20m $(TESTFLAGS) \
		$(if $(REFERENCE_CLIENTS),-tags reference) ./test/e2e ./test/interchange ./cmd/appserver/internal/app; status=$$?; \
	echo "skipped with a database, because they test what needs files:"; sort "$$skips"; exit $$status

race: ## run all tests under the race detector
	CGO_ENABLED=1 $(GO) test -race -vet=off $(RACEFLAGS) $(ordered)

# go test -fuzz links a program for each target. Here each package has one program, which runs its
# targets in turn, in the folder of the package, where it writes the inputs that fail.
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

# The tests of test/sandbox are part of test-all with short races, and the table of core/pure/command is part of test. So
# .ci/run has both.
attack: ## attack the sandbox, the judgement of commands, and files with races of ATTACK, with and without user namespaces
	$(GO) test -count=1 -v -timeout 60m ./test/sandbox -attack.time=$(ATTACK)
	$(GO) test -count=1 -v -run 'Safe|Reading|Words' ./core/pure/command

crash: ## kill the server CRASHES times in one home, then run the crash tests CRASHCOUNT times
	$(GO) test -count=1 -v -timeout 90m -run '^TestCrashSoak$$' ./test/crash -soak.kills=$(CRASHES)
	$(GO) test -run Crash -count=$(CRASHCOUNT) -timeout 60m ./test/crash

soak: ## run clients with random requests for SOAK, and draw the resources of the server in docs/soak.svg
	SOAK=$(SOAK) SOAK_DIR=$(CURDIR)/docs $(GO) test -run '^TestSoak$$' -count=1 -v -timeout 0 ./test/e2e

fleet-soak: ## run clients against three servers and a database that fail, for FLEETSOAK, and search an order of their requests
	FLEETSOAK=$(FLEETSOAK) $(GO) test -run '^TestFleetSoak$$' -count=1 -v -timeout 0 ./test/fleet
	$(GO) test -run '^TestThreadsAreLinearizable$$' -count=5 -v -timeout 0 ./test/fleet -fleet.time=1m

bench: ## run the benchmarks of the whole server, of captures of worktrees, and of retrieval
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) -timeout 60m ./test/bench ./core/effects/worktree ./core/effects/memory

# In the environment, APPSERVER_ECONOMY_REPOS names git repositories, separated by colons, instead of this one.
bench-economy: ## replay long sessions with and without automatic edits of the context, and print a table with goals
	$(GO) test -count=1 -run '^TestEconomy$$' -timeout 2h -v ./test/economy -economy

bench-web: build ## measure the page in Chromium and print a table
	$(GO) test -v -count=1 -run '^TestBudget$$' ./test/workbench -budget -timeout 5m

bench-hour: build ## stream to the page for an hour and print its heap
	$(GO) test -v -count=1 -run '^TestHeapOfStreaming$$' ./test/workbench -stream 1h -timeout 2h

bench-growth: ## measure each request of a thread with a history of 1 to 1,000 MB, and print a table
	$(GO) test -count=1 -run '^TestGrowth$$' -timeout 1h -v ./test/bench -growth

bench-peer: ## measure the server and the reference implementation with one script; ROWS=start|stream|turns50|turns200|context|line|endless|resume49|turns49MB|list2000… selects rows
	bash .ci/conformance $(GO) test -count=1 -tags reference -run 'TestBesideTheReference/^($(ROWS))$$' -timeout 3h -v ./test/bench

bench-store: ## measure files and PostgreSQL in turns, and print a table with limits; ROWS=append|writers|turn|resume|fork|list|takeover|edge selects rows
	$(GO) test -count=1 -run 'TestStores/^($(ROWS))$$' -timeout 2h -v ./test/bench -stores

conformance: ## compare with the reference implementation, run other clients against the server, and validate the messages of all tests by its schema
	bash .ci/conformance
	bash .ci/conformance $(MAKE) test-all

clean: ## remove bin
	rm -rf bin
