# Everything is built below build/ and nothing but go, make and (for the guests
# in JavaScript) node with npm is assumed.

GO        ?= go
BIN       := build/murmur
FIXTURES  := guest-fixtures/go
GOGUESTS  := runner looper gcstress hostile
# A guest is a WASI reactor, except a plain command.
GUEST     := GOOS=wasip1 GOARCH=wasm $(GO) build -trimpath

.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(BIN) ## build the command line, build/murmur

$(BIN): FORCE
	@$(GO) build -trimpath -o $@ ./cmd/murmur

guests: ## build the guests written in Go
	@for g in $(GOGUESTS); do \
	  $(GUEST) -buildmode=c-shared -o $(FIXTURES)/$$g/build/$$g.wasm ./$(FIXTURES)/$$g || exit 1; done
	@$(GUEST) -o $(FIXTURES)/command/build/command.wasm ./$(FIXTURES)/command

demo: build guests ## run a guest whose long command is demoted and comes back
	@$(BIN) run $(FIXTURES)/runner --task 'sleep 3; echo done' --grace 1s --until-idle

test: build guests ## run every test with the race detector
	@$(GO) run ./guest-fixtures/warm
	$(GO) test -race -timeout 14m $(TESTFLAGS) ./...

bench: build guests ## measure ours beside its rival, and print the ratio
	$(GO) test -run '^$$' -bench . -benchtime 1s ./...

lint: ## vet, gofmt, staticcheck, and the builds for other systems
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

clean: ## remove what was built
	rm -rf build guest-fixtures/go/*/build

.PHONY: help build guests demo test bench lint clean FORCE
FORCE:
