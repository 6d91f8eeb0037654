# Everything is built below build/ and nothing but go, make and (for the guests
# in JavaScript) node with npm is assumed.

GO     ?= go
BIN    := build/murmur
RUNNER := guest-fixtures/go/runner

.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(BIN) ## build the command line, build/murmur

$(BIN): FORCE
	@$(GO) build -trimpath -o $@ ./cmd/murmur

guests: ## build the guests written in Go, and compile them into the tests' cache
	@$(GO) run ./guest-fixtures/warm

demo: build guests ## run a guest whose long command is demoted and comes back
	@$(BIN) run $(RUNNER) --task 'sleep 3; echo done' --grace 1s --until-idle

test: build guests ## run every test with the race detector
	$(GO) test -race -timeout 14m $(TESTFLAGS) ./...

soak: ## kill runtimes and supervisors at random for some minutes; the account must close
	$(GO) test -tags soak -timeout 20m -run TestSoak -v ./runtime

bench: build guests ## measure ours beside its rival, and print the ratio
	$(GO) test -run '^$$' -bench . -benchtime 1s ./...

lint: ## vet, gofmt, staticcheck, and the builds for other systems
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

clean: ## remove what was built
	rm -rf build guest-fixtures/build guest-fixtures/*/*/build

.PHONY: help build guests demo test soak bench lint clean FORCE
FORCE:
