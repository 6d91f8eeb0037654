# Everything is built below build/ and nothing but go, make and (for the guests
# in JavaScript) node with npm is assumed.

GO     ?= go
BIN    := build/murmur
RUNNER := guest-fixtures/go/runner
WAZY   := host/internal/component/bench

# What the tests said, one JSON object an event.
TESTLOG := build/test.json

.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(BIN) ## build the command line, build/murmur

$(BIN): FORCE
	@$(GO) build -trimpath -o $@ ./cmd/murmur

# Programs of tests do not know their dependencies, so that in them wazero keeps
# what it compiled under the version "dev".
guests: ## build the guests, and compile them into the tests' cache
	@$(GO) run -ldflags '-X github.com/tetratelabs/wazero/internal/version.version=dev' ./guest-fixtures/warm

fixtures: guests ## the same

demo: build ## run a guest whose long command is demoted and comes back
	@$(GO) run ./guest-fixtures/warm runner
	@$(BIN) run $(RUNNER) --task 'sleep 3; echo done' --grace 1s --until-idle

test: build guests ## run every test with the race detector
	@mkdir -p build
	$(GO) tool gotestsum --format pkgname --format-hide-empty-pkg --jsonfile $(TESTLOG) -- -race -timeout 14m $(TESTFLAGS) ./...

soak: ## kill runtimes and supervisors at random for some minutes; the account must close
	$(GO) test -tags soak -timeout 20m -run TestSoak -v ./runtime

bench: build guests ## measure ours beside its rival, and print the ratio
	$(GO) test -run '^$$' -bench . -benchtime 1s ./...
	cd $(WAZY) && $(GO) test -run '^$$' -bench . -benchtime 1s .

lint: ## vet, gofmt, staticcheck, and the builds for other systems
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

clean: ## remove what was built
	rm -rf build guest-fixtures/build guest-fixtures/*/*/build guest-fixtures/js/build guest-fixtures/js/node_modules

.PHONY: help build guests fixtures demo test soak bench lint clean FORCE
FORCE:
