# klagtop: build, test, lint, measure. `make help` lists the targets.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
GOBIN   := $(shell go env GOPATH)/bin

.PHONY: help build demo test cover test-full test-kafka-versions test-large test-logs test-soak test-churn test-chaos lint fmt bench golden fuzz clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 24

build: ## bin/klagtop, static
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/klagtop ./cmd/klagtop

demo: ## the terminal view on an embedded Kafka
	go run ./cmd/klagtop demo

# The tests that need a real Kafka start one themselves where java and mvn are
# found, or use KLAGTOP_TEST_BROKERS; otherwise they say that they cannot run.
test: ## every test but the long ones, with the race detector
	go test -race -timeout 25m ./...

cover: ## the domain's coverage must stay at 90 % or more
	@out=$$(go test -cover ./collect) || { echo "$$out"; exit 1; }; echo "$$out"; \
	echo "$$out" | awk '{for(i=1;i<=NF;i++) if ($$i ~ /%$$/) c=$$i+0} END {if (c < 90) {print "coverage of collect is below 90 %"; exit 1}}'

test-full: test test-kafka-versions test-large test-logs test-soak test-churn test-chaos ## the long ones too: Kafka versions, a million rows, soak

test-kafka-versions: ## the comparison with Kafka's own tool on 3.3.2, 3.9.1 and 4.4.0
	for v in 3.3.2 3.9.1 4.4.0; do KLAGTOP_TEST_KAFKA_VERSION=$$v go test -count=1 -run 'Oracle' ./cmd/klagtop || exit 1; done

test-large: ## a million rows on 3 brokers, and 10,000 groups on 50: numbers, requests, bytes
	KLAGTOP_TEST_LARGE=1 go test -count=1 -v -run LargeCluster ./collect/kafka

test-logs: ## a hanging transaction and an unclean election on three real brokers
	KLAGTOP_TEST_LOGS=1 go test -count=1 -v -run HangingTransactionAndUncleanElection ./cmd/klagtop

test-soak: ## the poll loop and the demo for ten minutes under the race detector
	KLAGTOP_TEST_SOAK=10m go test -race -count=1 -v -timeout 20m -run Soak ./cmd/klagtop

test-churn: ## a hundred disturbances of seven groups of real clients; each rebalance must be told of once
	KLAGTOP_TEST_CHURN=100 go test -count=1 -v -timeout 40m -run ChurnOfRealClients ./cmd/klagtop

test-chaos: ## twenty groups of mixed clients on three brokers that are killed and paused in turn, every poll judged
	KLAGTOP_TEST_CHAOS=1 go test -count=1 -v -timeout 20m -run TwentyGroups ./cmd/klagtop

lint: ## vet, gofumpt, staticcheck
	go vet ./...
	@out=$$($(GOBIN)/gofumpt -l .); [ -z "$$out" ] || { echo "not gofumpt-ed: $$out"; exit 1; }
	$(GOBIN)/staticcheck ./...

fmt: ## format
	$(GOBIN)/gofumpt -w .

bench: ## benchmarks with allocations; nothing here fails on a slow machine
	go test -run '^$$' -bench . -benchmem ./collect ./collect/kafka ./exporter ./internal/document ./tui

golden: ## write the golden files anew; read the diff before you commit it
	go test ./tui ./exporter ./internal/report -update

fuzz: ## each fuzz target for a while
	@for p in $$(go list ./...); do for f in $$(go test -list '^Fuzz' $$p | grep ^Fuzz); do go test -run '^$$' -fuzz "^$$f$$" -fuzztime 20s $$p || exit 1; done; done

clean:
	rm -rf bin dist
