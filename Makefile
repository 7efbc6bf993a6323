# Two commands set everything up: `make bench` measures, `make test` checks.
# On Debian and Ubuntu the system packages that are missing are installed (as root, or with sudo).

CARGO ?= cargo
BIN = target/release/keymark
DENY_VERSION = 0.20.2
FUZZ_VERSION = 0.13.2
FUZZ_SECONDS ?= 60
KILLS ?= 200
ARGS ?=

.PHONY: bench test lint deny fuzz faults overhead calibration packages-bench packages-test build clean

# Measures this machine: the default plan, or `make bench ARGS="--algorithm longest --runs 10"`.
bench: packages-bench build
	$(BIN) bench $(ARGS)

build:
	$(CARGO) build --release --locked -p keymark -p keymark-pcsc

# Everything: formatting, lints, documents, tests of the whole workspace, licences and advisories.
# cargo does not build a C library for the tests that load it.
test: packages-test lint
	$(CARGO) build --locked -p keymark-pcsc
	$(CARGO) test --workspace --locked
	$(MAKE) deny

lint:
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	scripts/check-docs

deny:
	scripts/deny $(DENY_VERSION)

# Makes up what keymark reads from outside, for a minute: a first look. FUZZ_SECONDS=3600 takes its time.
fuzz: packages-bench
	scripts/packages c++:g++
	fuzz/run $(FUZZ_VERSION) $(FUZZ_SECONDS)

# Kills keymark 200 times in the middle of a run with every stack, and looks for what is left or lost.
faults: packages-bench
	$(CARGO) build --locked -p keymark-pcsc
	KEYMARK_KILLS=$(KILLS) $(CARGO) test --locked -p keymark --test kills -- --nocapture

# The figures that keymark claims of itself, into their page; exits with 1 when one is missed.
overhead: packages-bench build
	$(CARGO) run --release --locked -p keymark-overhead --bin overhead -- --markdown docs/performance.md

# The same case twice in one plan, 100 times over, and the same program twice across runs: how often are the
# two called different? A quarter of an hour.
calibration: build
	$(CARGO) run --release --locked -p keymark-overhead --bin calibration -- --markdown docs/performance.md

# gpg, its agent, scdaemon and ssh-agent are measured; OpenSSL and SQLite are compiled from source;
# bindgen reads littlefs's header with libclang; cards in readers are reached through pcsc-lite, and SoftHSM2
# is the token that everybody has.
packages-bench:
	scripts/packages gpg:gpg gpg-agent:gpg-agent gpgconf:gpgconf cc:gcc make:make perl:perl git:git \
	    /usr/lib/gnupg/scdaemon:scdaemon /usr/include/PCSC/winscard.h:libpcsclite-dev \
	    pkg-config:pkg-config clang:clang ssh:openssh-client ssh-agent:openssh-client \
	    softhsm2-util:softhsm2

# The virtual card is tested through pcscd and vpcd as if it were a real one, the simulator against QEMU,
# the committed kernels against what the compiler makes of them, PKCS#11 with SoftHSM2, and with
# OpenSC's and OpenSSL's programs.
packages-test: packages-bench
	scripts/packages pcscd:pcscd /etc/reader.conf.d/vpcd:vsmartcard-vpcd \
	    qemu-system-arm:qemu-system-arm arm-none-eabi-gcc:gcc-arm-none-eabi \
	    pkcs11-tool:opensc openssl:openssl

clean:
	$(CARGO) clean
