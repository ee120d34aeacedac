# Two commands do for a first look: make run, make test. Everything that is
# built lies in build/.

GO ?= go
ARGS ?=
FUZZTIME ?= 60s

# What is shared between goroutines, and so is tested with the race detector too.
# What takes longest is first here and in the next, so that no core waits for it.
RACE = ./ratelimit/sql ./ratelimit/... ./lockout/... ./internal/limitlog ./internal/ops ./internal/passhash ./internal/db ./internal/fernet ./internal/jws ./internal/follow ./internal/listen ./cmd/wire ./auth/token ./auth/guess
# The API and whole servers under the race detector, on Postgres alone; without
# what measures times, and what computes hashes one after another.
RACE_API = ./test ./auth ./api/v3/...
ONE_BY_ONE = ^Test(RL_H14|RecordedHashes)$$

# Starts a Postgres for a command, unless there is one; for all tests a MariaDB too.
POSTGRES = $(if $(KEYSTONE_GO_TEST_POSTGRES),,build/pgrun --)
SERVERS = $(if $(KEYSTONE_GO_TEST_POSTGRES),,build/pgrun -mariadb --)

# The tests beside Python Keystone, and the parts that run beside one another:
# those that take longest first.
INTEROP = test/oslo test/deployers test/interop test/interop/tables test/interop/crossing test/interop/rolling test/interop/suites test/interop/debian
TOGETHER = crossing interop suites crossing-mariadb deployers oslo tables
# What the two do on one MariaDB too: of the crossing that which engines may tell
# apart.
ON_MARIADB = ^Test(Orders|Tokens|RootRevoked|ChainRevoked|Lockout|OddRows|BrokenRows|OddCatalog)$$|^TestVoided$$/^(token_revoked|user_disabled|password_changed)
INTEROP_COUNTS = $(or $(KEYSTONE_GO_TEST_COUNTS),$(CURDIR)/build/interop/counts)
# The suites that limits are held against: those that ask no faster than clients do. openstackclient_functional and
# tempest_plugin_rbac run twice at once, from one address.
LIMITED = TestSchemathesis|TestSuites/(openstackclient|auth_token|oslo_limit|gophercloud|openstacksdk|tempest|tempest_plugin)$$
# Every module of the tree: those of tools and of what is compared with must not
# become dependencies of the server.
MODULES = . tools test/clients/gophercloud test/browser/driver test/bench/libraries

TAGS = -tags=interop,interop_full,galera

.PHONY: help run build test test-all test-galera interop interop-full interop-limits interop-all bench-peer bench-large lint docs verify bench fuzz

help: ## this text
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

run: build ## build the server and start it with a state folder of its own (ARGS="--listen 127.0.0.1:5000")
	@build/keystone-go dev $(ARGS)

build: ## build the server: build/keystone-go
	$(GO) build -o build/keystone-go ./cmd/keystone-go

test: ## every test on SQLite, a real Postgres and a real MariaDB, then the race detector
	@test/setup.sh
	@$(GO) build -o build/ ./internal/dbtest/pgrun ./test/run
	@$(SERVERS) $(MAKE) --no-print-directory test-all

test-all:
	@build/run -name tests -postgres -mariadb $(if $(CI),-strict) -- -count=1 -timeout=15m ./...
	@build/run -name race -postgres -mariadb -- -race -count=1 -timeout=15m $(RACE)
	@build/run -name race-api -- -race -count=1 -timeout=30m -run='/^postgres$$' -skip='$(ONE_BY_ONE)' $(RACE_API)

test-galera: ## stores and servers on a Galera cluster of three nodes, which are killed and cut off: five minutes
	@test/setup.sh galera
	@$(GO) build -o build/ ./test/run
	@build/run -name galera $(if $(CI),-strict) -- -tags=galera -count=1 -timeout=20m ./test/galera

interop: ## beside the real Python Keystone, from PyPI: build/interop-report.md
	@test/interop/setup.sh
	@$(GO) build -o build/ ./internal/dbtest/pgrun ./test/run
	@$(POSTGRES) $(MAKE) --no-print-directory interop-all INTEROP_TAGS=interop SPEED="-time 1s -rounds 2"

interop-full: ## the same with the long suites: an hour or two
	@test/interop/setup.sh full
	@$(GO) build -o build/ ./internal/dbtest/pgrun ./test/run
	@KEYSTONE_GO_INTEROP_FULL=1 KEYSTONE_GO_ROLLING=10m $(POSTGRES) $(MAKE) --no-print-directory interop-all \
	  TOGETHER="$(TOGETHER) debian" INTEROP_TAGS=interop,interop_full SPEED="-time 5s -rounds 5"

interop-limits: ## the suites of clients, the long ones too, with the packaged limits enforced: none meets a limit
	@test/interop/setup.sh
	@$(GO) build -o build/ ./internal/dbtest/pgrun ./test/run
	@KEYSTONE_GO_INTEROP_FULL=1 KEYSTONE_GO_TEST_LIMITS=enforced $(POSTGRES) build/run -name interop-limits $(if $(CI),-strict) -- \
	  -tags=interop -count=1 -timeout=120m -run='$(LIMITED)' ./test/interop/suites

# Two parts at a time: a part waits for one thread of Python most of its time.
# What is measured by the clock comes afterwards, alone.
interop-all: build
	@rm -rf build/interop/report build/interop/counts; mkdir -p build/interop/report; \
	export KEYSTONE_GO_TEST_COUNTS=$(INTEROP_COUNTS) KEYSTONE_GO_PROGRAM=$(CURDIR)/build/keystone-go; touch $$KEYSTONE_GO_TEST_COUNTS; status=0; \
	$(MAKE) --no-print-directory --keep-going --jobs=2 --output-sync $(TOGETHER:%=interop-part-%) || status=1; \
	$(MAKE) --no-print-directory interop-part-rolling || status=1; \
	$(GO) run ./test/interop/benchpeer -out build/interop/report/speed.json $(SPEED) >build/interop/speed.log 2>&1 || { cat build/interop/speed.log; status=1; }; \
	$(GO) run ./test/interop/report $$KEYSTONE_GO_TEST_COUNTS || status=1; exit $$status

interop-part-crossing-mariadb: ENV = KEYSTONE_GO_INTEROP_ENGINE=mariadb
interop-part-crossing-mariadb: ONLY = -run='$(ON_MARIADB)'
interop-part-crossing-mariadb: PACKAGE = test/interop/crossing
interop-part-%: PACKAGE = $(filter %/$*,$(INTEROP))
interop-part-%:
	@start=$$(date +%s); status=0; \
	$(ENV) build/run -name interop-$* $(if $(CI),-strict) -- -tags=$(INTEROP_TAGS) -count=1 -timeout=120m $(ONLY) ./$(PACKAGE) || status=1; \
	echo "interop-$*: $$(($$(date +%s) - start)) s"; exit $$status

bench-peer: ## processor time a request, here and in Python Keystone
	@test/interop/setup.sh
	@$(GO) build -o build/ ./internal/dbtest/pgrun
	@$(POSTGRES) $(GO) run ./test/interop/benchpeer -strict $(ARGS)

bench-large: ## time of lists of a large cloud, here and in Python Keystone: a quarter of an hour
	@test/interop/setup.sh
	@$(GO) build -o build/ ./internal/dbtest/pgrun
	@$(POSTGRES) $(GO) run ./test/interop/benchpeer -large -strict $(ARGS)

lint: build/tools/.made ## gofumpt, go vet, staticcheck, unchecked errors, open rows
	@unformatted=$$(build/tools/gofumpt -l .); \
	  if [ -n "$$unformatted" ]; then echo "not as gofumpt writes them:"; echo "$$unformatted"; exit 1; fi
	@for module in $(MODULES); do \
	  echo "vet $$module"; $(GO) -C $$module vet $(TAGS) ./... && $(GO) -C $$module vet $(TAGS) -vettool=$(CURDIR)/build/tools/vet ./... || exit 1; done
	build/tools/staticcheck $(TAGS) ./...

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
	@for module in $(MODULES); do $(GO) -C $$module mod tidy -diff && $(GO) -C $$module mod verify || exit 1; done

bench: ## measure against the bounds, every figure against its own baseline in one run
	@$(GO) build -o build/ ./internal/dbtest/pgrun
	@$(GO) build -C test/bench/libraries -o ../../../build/bench-libraries .
	@$(POSTGRES) $(GO) run ./test/bench $(ARGS); status=$$?; build/bench-libraries || status=1; exit $$status

fuzz: ## fuzz every target for FUZZTIME (60s), on a core each
	@$(GO) build -o build/ ./test/run
	@build/run -name fuzz -fuzz $(FUZZTIME)
