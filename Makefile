# Two commands do for a first look: make run, make test. Everything that is
# built lies in build/.

GO ?= go
ARGS ?=
FUZZTIME ?= 60s

# What is shared between goroutines, and so is tested with the race detector too.
RACE = ./ratelimit/... ./lockout/... ./internal/passhash ./internal/db ./internal/fernet ./internal/jws ./internal/follow ./internal/listen ./cmd/wire ./auth/token
# The API and whole servers under the race detector, on Postgres alone.
RACE_API = ./api/v3/... ./auth ./test

# Starts a Postgres for a command, unless there is one.
POSTGRES = $(if $(KEYSTONE_GO_TEST_POSTGRES),,build/pgrun --)

.PHONY: help run build test test-all lint docs verify bench fuzz

help: ## this text
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

run: build ## build the server and start it with a state folder of its own (ARGS="--listen 127.0.0.1:5000")
	@build/keystone-go dev $(ARGS)

build: ## build the server: build/keystone-go
	$(GO) build -o build/keystone-go ./cmd/keystone-go

test: ## every test on SQLite and on a real Postgres, then the race detector
	@test/setup.sh
	@$(GO) build -o build/ ./internal/dbtest/pgrun ./test/run
	@$(POSTGRES) $(MAKE) --no-print-directory test-all

test-all:
	@build/run -name tests -postgres $(if $(CI),-strict) -- -count=1 -timeout=15m ./...
	@build/run -name race -postgres -- -race -count=1 -timeout=15m $(RACE)
	@build/run -name race-api -- -race -count=1 -timeout=15m -run='/^postgres$$' $(RACE_API)

lint: build/tools/.made ## gofumpt, go vet, staticcheck, unchecked errors, open rows
	@unformatted=$$(build/tools/gofumpt -l .); \
	  if [ -n "$$unformatted" ]; then echo "not as gofumpt writes them:"; echo "$$unformatted"; exit 1; fi
	@for module in . tools test/clients/gophercloud; do \
	  echo "vet $$module"; $(GO) -C $$module vet ./... && $(GO) -C $$module vet -vettool=$(CURDIR)/build/tools/vet ./... || exit 1; done
	build/tools/staticcheck ./...

build/tools/.made: tools/go.mod tools/go.sum tools/vet/main.go
	$(GO) -C tools build -o ../build/tools/ ./vet tool
	@touch $@

docs: ## write the generated documents and samples anew
	$(GO) generate ./...

verify: ## are the generated documents current, and the module files tidy?
	@before=$$(git diff | sha256sum; git status --porcelain); \
	  $(MAKE) --no-print-directory docs && \
	  if [ "$$before" != "$$(git diff | sha256sum; git status --porcelain)" ]; then \
	    git --no-pager diff --stat; echo "make docs changed what is here: commit what it wrote"; exit 1; fi
	@for module in . tools test/clients/gophercloud; do $(GO) -C $$module mod tidy -diff && $(GO) -C $$module mod verify || exit 1; done

bench: ## measure against the bounds, every figure against its own baseline in one run
	@$(GO) build -o build/ ./internal/dbtest/pgrun
	@$(POSTGRES) $(GO) run ./test/bench $(ARGS)

fuzz: ## fuzz every target for FUZZTIME (60s)
	@$(GO) build -o build/ ./test/run
	@build/run -name fuzz -fuzz $(FUZZTIME)
