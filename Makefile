# Every target works on a fresh Debian 12 with a Swift 6.3 toolchain: missing Debian packages are installed first (see
# Scripts/install-debian-packages).

SWIFT ?= swift
export SWIFT
OPTIMIZED = Scripts/release-build
SOURCES = Package.swift Sources Tests Fuzzing/Package.swift Fuzzing/Sources

.PHONY: help build test test-applications demo bench profile symbol-order fuzz lint deb test-deb test-image check-deploy

help:
	@echo 'make demo   builds and starts the Apple simulator, an example application and the gateway on this machine;'
	@echo '            RELEASE=1 builds release instead of debug binaries, which takes much longer'
	@echo 'make test   builds and runs every test: units, store contract, processes, a real browser; builds the release'
	@echo 'make test-applications  runs the examples with real applications, such as WordPress, git and JupyterLab'
	@echo 'make bench  compares the gateway with nginx and HAProxy; BENCH=--quick takes about seven minutes'
	@echo 'make profile  updates the execution profile for profile-guided optimization'
	@echo 'make symbol-order  updates the order in which the linker places functions'
	@echo 'make fuzz   runs the fuzzers, two minutes for each target; FUZZ_SECONDS=10 is quicker'
	@echo 'make lint   checks the format, and builds with warnings as errors'
	@echo 'make build  builds the debug binaries'
	@echo 'make deb    builds the Debian package, into .build/deb'
	@echo 'make test-deb  installs the package in a clean Debian root, as root, tests a sign-in, and boots that root'
	@echo 'make test-image  builds the container image on local base images, as root, and tests a sign-in; COMPILE=1'
	@echo '            compiles in the image instead of using the program of this machine'
	@echo 'make check-deploy  validates Dockerfile, Kubernetes manifests and alerts, with tools from Debian and PyPI'

build:
	@Scripts/install-debian-packages build
	$(SWIFT) build

# One build: the process tests run the debug binaries that the unit tests need anyway. They run last, because an error
# is easier to find in a unit test. The suites that start programs with Foundation's Process run first, in a test run of
# their own: with more than 1,300 open descriptors, which the other suites together exceed, Process reads beyond the end
# of a buffer and sometimes crashes the tests.
# Last the program is built as it ships: whole modules at once, where the compiler finds errors that it does not find in
# a debug build, such as a missing import of a C library.
STARTING = (ArchitectureTests|OperationsTests|TLSTransportTests)\.
test:
	@Scripts/install-debian-packages build test
	$(SWIFT) build --build-tests
	@Scripts/run-tests $(SWIFT) test --skip-build --disable-xctest --filter '$(STARTING)'
	@Scripts/run-tests $(SWIFT) test --skip-build --disable-xctest --skip SystemTests --skip '$(STARTING)'
	@Scripts/run-system-tests
	$(OPTIMIZED) --product cordon
	@"$$($(OPTIMIZED) --show-bin-path)/cordon" --version

# The examples with real applications from Debian and PyPI. Not part of `make test`, because they need many packages.
test-applications:
	@Scripts/install-debian-packages build test test-applications
	@Scripts/install-python-packages
	$(SWIFT) build --build-tests
	@Scripts/run-tests $(SWIFT) test --skip-build --disable-xctest --filter ApplicationTests

# Without RELEASE=1: the same debug binaries as for `make test`.
DEMO = $(if $(RELEASE),$(OPTIMIZED),$(SWIFT) build)

demo:
	@Scripts/install-debian-packages build demo
	$(DEMO) --product apple-simulator
	$(DEMO) --product cordon
	@exec "$$($(DEMO) --show-bin-path)/cordon" demo

# BENCH sets options of Benchmarks/bench.py: --quick, --rows authenticated,tls, --write and others (see --help).
bench:
	@Scripts/install-debian-packages build bench
	$(OPTIMIZED) --product apple-simulator
	$(OPTIMIZED) --product store-writer
	$(OPTIMIZED) --product cordon
	@exec python3 Benchmarks/bench.py --cordon "$$($(OPTIMIZED) --show-bin-path)/cordon" $(BENCH)

# Updates Scripts/execution-profile.proftext (profile-guided optimization), which takes twelve minutes. Run it after
# larger changes and before `make symbol-order`: functions that are missing in the profile or have changed since are
# compiled without it. Remove .build afterwards, because existing object files are not recompiled.
profile:
	@Scripts/install-debian-packages build bench
	$(OPTIMIZED) --product apple-simulator
	$(OPTIMIZED) --instrumented --product cordon
	@exec python3 Benchmarks/execution_profile.py \
		--cordon "$$($(OPTIMIZED) --instrumented --show-bin-path)/cordon" \
		--simulator "$$($(OPTIMIZED) --show-bin-path)/apple-simulator" \
		--llvm-profdata "$$(dirname "$$(command -v $(SWIFT))")/llvm-profdata" \
		--output Scripts/execution-profile.proftext

# Updates Scripts/symbol-order.txt (function order for the linker). Run it after larger changes; missing and obsolete
# functions do no harm. The program is removed before, because the linker writes no map for an existing one, and after,
# so that the next build links in the new order.
symbol-order:
	@Scripts/install-debian-packages build bench symbol-order
	$(OPTIMIZED) --product apple-simulator
	@rm -f "$$($(OPTIMIZED) --show-bin-path)/cordon"
	$(OPTIMIZED) --product cordon -Xlinker -Map="$(CURDIR)/.build/cordon.map"
	@python3 Benchmarks/symbol_order.py --cordon "$$($(OPTIMIZED) --show-bin-path)/cordon" \
		--map .build/cordon.map --output Scripts/symbol-order.txt
	@rm -f "$$($(OPTIMIZED) --show-bin-path)/cordon"

deb:
	@Scripts/install-debian-packages build deb
	$(OPTIMIZED) --product cordon
	@exec Scripts/make-deb "$$($(OPTIMIZED) --show-bin-path)/cordon"

test-deb: deb
	@Scripts/install-debian-packages test-deb
	$(OPTIMIZED) --product apple-simulator
	@python3 Tests/Debian/test_package.py .build/deb/cordon_*.deb "$$($(OPTIMIZED) --show-bin-path)/apple-simulator"
	@exec python3 Tests/Debian/test_service.py .build/deb/cordon_*.deb "$$($(OPTIMIZED) --show-bin-path)/apple-simulator"

test-image:
	@Scripts/install-debian-packages build test-image
	$(if $(COMPILE),,$(OPTIMIZED) --product cordon)
	$(OPTIMIZED) --product apple-simulator
	@exec python3 Tests/Image/test_image.py $(if $(COMPILE),--compile,"$$($(OPTIMIZED) --show-bin-path)/cordon") \
	  "$$($(OPTIMIZED) --show-bin-path)/apple-simulator"

check-deploy:
	@Scripts/install-debian-packages check-deploy
	@exec Scripts/check-deploy

# FUZZ sets targets and options of Fuzzing/fuzz.py: path form, --seconds 600 (--list prints the targets).
fuzz:
	@Scripts/install-debian-packages build demo
	@exec python3 Fuzzing/fuzz.py $(FUZZ)

# With CI set, Package.swift turns warnings in this package, but not in its dependencies, into errors.
lint:
	@Scripts/install-debian-packages build
	$(SWIFT) format lint --strict --recursive $(SOURCES)
	CI=true $(SWIFT) build --build-tests
