# The two commands that matter: `go run ./cmd/toold call search_files --query TODO` and `make test`.

GO        ?= go
GOFLAGS   ?=
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS   := -s -w -X main.version=$(VERSION)
TESTFLAGS ?= -race -timeout 60m

.PHONY: all build test deps check unit docker cross extension bench torture fuzz generate fmt clean

all: build

build: ## the binary, in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/toold ./cmd/toold

test: deps check unit cross extension ## everything; what CI runs

deps: ## what the tests need (Debian packages; nothing when they are there)
	@.ci/deps

check: ## vet, staticcheck, gofumpt
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	@files="$$($(GO) tool gofumpt -l $$(git ls-files '*.go'))"; if [ -n "$$files" ]; then echo "not formatted (make fmt):"; echo "$$files"; exit 1; fi

unit: ## the Go tests, but for those that need a Docker engine
	$(GO) test $(TESTFLAGS) $$($(GO) list ./... | grep -v '/shell/docker$$')

docker: ## the tests of shell/docker, which start a private engine
	$(GO) test $(TESTFLAGS) ./shell/docker

cross: ## it builds for the other systems
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/toold
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/toold

extension: ## the VS Code extension's tests
	@if [ -f editors/vscode/package.json ]; then $(MAKE) -C editors/vscode test; fi

bench: ## the figures of docs/benchmarks.md
	$(GO) test -run '^$$' -bench . -benchtime 1s -timeout 60m ./...

torture: ## the long variants of the crash, race and freshness tests
	TOOLD_TORTURE=1 $(GO) test -race -timeout 4h -run 'Crash|Lost|Race|Fresh|Drain|Kill|Torture' ./...

generate: ## docs/tools.md and the extension's types, from the declarations
	$(GO) run ./cmd/toold tools --markdown > docs/tools.md
	@if [ -d editors/vscode/src ]; then $(GO) run ./cmd/toold tools --typescript > editors/vscode/src/tools.gen.ts; fi

fmt:
	$(GO) tool gofumpt -w $$(git ls-files '*.go')

clean:
	rm -rf bin dist
