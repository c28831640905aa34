SHELL := /bin/bash
# Everything that is done often. `make help` lists it.

GO       ?= go
LANE     := ./scripts/lane.sh
# Packages that run the built program, or git; they have lanes of their own. The
# race detector would see only the driver, and pure Go SQLite is 14 times slower
# under it. In each run two thirds of their tests are drawn (CW_LONG=1: all). Those with
# the real CLIs wait for their start, and run side by side; the others are as quick one
# after the other.
CLIS     := cw/e2e cw/internal/cwtest/realcli
DRIVEN   := cw/worktree cw/internal/daemon cw/internal/cwtest/badinput cw/internal/cwtest/mergelab
ALONE    := cw/internal/cwtest/livelab cw/internal/cwtest/bench
PROGRAM  := $(CLIS) $(DRIVEN) $(ALONE) cw/orchestrator
SLOW     := $(PROGRAM) cw/internal/cwtest/crashlab
FAST     := $(shell $(GO) list ./... | grep -v -x -F $(foreach p,$(SLOW),-e $(p)))
# Nothing happens at once in these: the race detector has nothing to see.
PURE     := cw/internal/tiptap cw/prompts cw/providers cw/providers/parsers
# Of these the race detector sees in each run only the tests in which several things
# happen at once, and all others run without it; make race has all.
SOME     := cw/orchestrator cw/internal/store cw/cmd/cw cw/dispatch cw/accounts
TOGETHER := AtOnce|Stop|Meanwhile|Together|Same|While|Concurrent|Order|Linger|WaitForReaders|Cancelled
# Tests that the race detector saw are not run again without it.
REST     := $(if $(shell command -v gcc),-skip '$(TOGETHER)')
RACED    := $(filter-out $(PURE) $(SOME),$(FAST))
# Tests of the API that do one thing very often, one after the other: they run with the
# program, without the race detector.
OFTEN    := TestHostileMatrix|TestRights|TestOtherKindsMayNothing|TestDeniedTools|TestAnswersFitTheirDescription
FUZZTIME ?= 2s
# Most tests wait for processes and for the disk, not for a processor.
PARALLEL ?= 6
# With cgo a SQLite in C is built, too, which nothing here runs: -O0 is quick.
CGO_O0   := CGO_ENABLED=1 CGO_CFLAGS=-O0
# The race detector looks at our code; the database, translated from C, is 14
# times slower under it and locks by its own rules.
RACE     := -race $(foreach m,sqlite libc memory,-gcflags=modernc.org/$(m)/...=-race=false)
# For macOS only types are needed of the same: what is not optimized is built in a
# third of the time.
PLAIN    := $(foreach m,sqlite libc memory,-gcflags=modernc.org/$(m)/...=-N\ -l)
# make vet looks at everything, with more analyzers than go test has.
TEST     := $(GO) test -vet=off
N        ?= 2000
MINUTES  ?= 20

.DEFAULT_GOAL := help
.PHONY: help build check fmt vet lint unit deps test test-unit race test-crash test-e2e test-web bench-web pictures e2e-long test-fuzz lifetimes failpoints torture soak bench docs

help: ## show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

build: ## one static binary, ./cw
	CGO_ENABLED=0 $(GO) build -trimpath -o cw ./cmd/cw

check: fmt vet lint unit ## format, vet, lint, unit tests (at most 4 minutes)

fmt: ## fail on files that gofmt would change
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }

vet: ## go vet, for Linux and for macOS
	CGO_ENABLED=0 $(GO) vet ./...
	CGO_ENABLED=0 $(GO) vet -tags faultinject ./internal/daemon
	CGO_ENABLED=0 GOOS=darwin $(GO) vet $(PLAIN) ./...

lint: ## golangci-lint, when it is installed (v2.5.0 is what it was written for)
	@if command -v golangci-lint >/dev/null; then golangci-lint run; else echo "lint: golangci-lint is not installed, skipped"; fi

unit: ## unit tests without the race detector
	CGO_ENABLED=0 $(GO) test -parallel $(PARALLEL) $(FAST) cw/orchestrator

deps: ## what the tests need beyond Go: the real CLIs and the editor, from npm, a browser and three tools
	@./scripts/install-clis.sh
	@./scripts/install-tiptap.sh
	@./scripts/install-browser.sh
	@./scripts/install-web.sh
	@./scripts/install-tools.sh

# The browser waits more than it works: vet and the fuzz targets take what it leaves.
test: deps ## all tests, lane by lane, to the last (needs gcc, node and npm as well)
	@red=; run() { name=$$1 minutes=$$2; shift 2; $(LANE) $$name $$minutes $(MAKE) --no-print-directory "$$@" || red="$$red $$name"; }; \
	run unit+race 12 test-unit; \
	log=$$(mktemp); nice -n 15 $(LANE) vet+fuzz 12 $(MAKE) --no-print-directory -k fmt vet test-fuzz >$$log 2>&1 & beside=$$!; \
	run web 13 test-web; \
	wait $$beside || red="$$red vet+fuzz"; cat $$log; rm -f $$log; \
	run crash-lab 8 test-crash; \
	run e2e 25 test-e2e; \
	[ -z "$$red" ] || { echo "red:$$red"; exit 1; }

test-unit: ## unit tests, under the race detector where things happen at once (without gcc: without it)
	@code=0; \
	if command -v gcc >/dev/null; then export $(CGO_O0); \
	$(TEST) $(RACE) -parallel $(PARALLEL) -timeout 30m -skip '^($(OFTEN))$$' $(RACED) || code=1; \
	$(TEST) $(RACE) -parallel $(PARALLEL) -timeout 30m -run '$(TOGETHER)' $(SOME) || code=1; \
	elif [ "$(CI)" = true ]; then echo "gcc is missing: the race detector cannot run"; code=1; \
	else echo "gcc is missing: tests run without the race detector"; CGO_ENABLED=0 $(TEST) -skip '^($(OFTEN))$$' $(RACED) || code=1; fi; \
	CGO_ENABLED=0 $(TEST) -parallel $(PARALLEL) -timeout 30m $(REST) $(filter-out cw/orchestrator,$(SOME)) || code=1; \
	CGO_ENABLED=0 $(TEST) -timeout 30m $(PURE) || code=1; \
	exit $$code

race: ## the race detector for all of the largest packages (45 minutes)
	$(CGO_O0) $(TEST) $(RACE) -parallel $(PARALLEL) -timeout 2h $(SOME)

test-crash: ## kill the daemon, shims and agents, and check what must hold
	CGO_ENABLED=0 $(TEST) -count=1 -parallel 7 -timeout 35m -v -run 'Test' cw/internal/cwtest/crashlab 2>&1 | grep -v '^=== \(RUN\|PAUSE\|CONT\)' ; exit $${PIPESTATUS[0]}

test-e2e: deps ## the whole program: bad input, the daemon, the real CLIs
	@code=0; export CGO_ENABLED=0 CW_LAB_BINARY=$$(mktemp -d)/cw; \
	drawn=$$(./scripts/draw-tests.sh $(patsubst cw/%,%,$(CLIS) $(DRIVEN) cw/orchestrator)) || exit 1; \
	$(GO) build -tags faultinject -o $$CW_LAB_BINARY ./cmd/cw || exit 1; \
	$(TEST) -count=1 -timeout 15m -run '^($(OFTEN))$$' cw/internal/api || code=1; \
	$(TEST) -count=1 -p 2 -parallel 4 -timeout 60m -run "$$drawn" $(CLIS) || code=1; \
	$(TEST) -count=1 -p 1 -parallel 5 -timeout 60m -run "$$drawn" $(DRIVEN) || code=1; \
	$(TEST) -count=1 -parallel $(PARALLEL) -timeout 60m -run "$$drawn" $(REST) cw/orchestrator || code=1; \
	$(TEST) -count=1 -p 1 -timeout 25m $(ALONE) || code=1; \
	rm -r $${CW_LAB_BINARY%/cw}; exit $$code

test-web: ## the dashboard: types, style, parts, its build and weight, and all of it in a browser (STEP=name runs one)
	@./scripts/install-browser.sh
	@./scripts/web.sh $(STEP)

bench-web: ## the dashboard with 200 live agents for a minute, and 100,000 events in one conversation (quiet machine)
	@./scripts/install-browser.sh
	@./scripts/install-web.sh
	cd web && CW_LOAD=1 CW_AGENTS=200 CW_SECONDS=60 npx --no-install vitest run -c vitest.e2e.config.ts load

pictures: ## docs/images: each page of the dashboard in light and dark, on a desktop and a phone
	@./scripts/install-browser.sh
	@./scripts/install-web.sh
	cd web && CW_PICTURES=1 npx --no-install vitest run -c vitest.e2e.config.ts pictures

e2e-long: deps ## how the real CLIs give up at a limit, as long as they take, and the tests of the program with both CLIs (40 minutes)
	CGO_ENABLED=0 CW_E2E_LONG=1 $(TEST) -count=1 -timeout 30m -v -run 'TestPresetsGiveUp' cw/internal/cwtest/realcli
	CGO_ENABLED=0 CW_LONG=1 $(TEST) -count=1 -parallel 4 -timeout 90m cw/e2e

test-fuzz: ## the fuzz targets of a third of the packages, drawn, or with CW_LONG=1 all (FUZZTIME each)
	@./scripts/fuzz.sh $(FUZZTIME)

lifetimes: ## all of what make test only draws from: lives of worktrees, merges, traps and damages
	CGO_ENABLED=0 CW_LONG=1 $(GO) test -count=1 -timeout 2h -v -run 'TestLifetimes|TestNothingIsLost|TestMergeEqualsGit|TestMend|TestHostile|TestTraps|TestAddKilledInside' cw/worktree

failpoints: ## kill the daemon at each named step of each flow (20 minutes)
	CGO_ENABLED=0 CW_LONG=1 $(GO) test -count=1 -parallel 7 -timeout 2h -v -run 'TestFailpoints|TestMutations' cw/internal/cwtest/crashlab

torture: ## N random kills of the daemon (default 2000)
	CGO_ENABLED=0 CW_LAB_KILLS=$(N) $(GO) test -count=1 -timeout 12h -v -run 'TestRandomKills' cw/internal/cwtest/crashlab

soak: ## one daemon for MINUTES (default 20) under random faults: it must not grow
	CGO_ENABLED=0 CW_LAB_SOAK=$$(($(MINUTES) * 60)) $(GO) test -count=1 -timeout 12h -v -run 'TestSoak' cw/internal/cwtest/crashlab

bench: ## measure docs/performance.md, each figure beside its floor (10 minutes; ROW=name measures one)
	CGO_ENABLED=0 $(GO) test -count=1 -timeout 30m -v -run 'TestRows$(if $(ROW),/^($(ROW))$$)' cw/internal/cwtest/bench -args -full 2>&1 | grep --line-buffered -v '^=== ' ; exit $${PIPESTATUS[0]}

docs: ## write the generated parts of the documents
	CGO_ENABLED=0 $(GO) test ./internal/cw ./internal/api ./cmd/cw ./prompts -update
