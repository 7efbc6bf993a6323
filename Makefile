# Two commands set everything up: `make bench` measures, `make test` checks.
# On Debian and Ubuntu the system packages that are missing are installed (as root, or with sudo).

CARGO ?= cargo
# Cargo's profile for programs that run here; packages have their own.
PROFILE = release
BIN = target/$(PROFILE)/keymark
DENY_VERSION = 0.20.2
FUZZ_VERSION = 0.13.2
OHA_VERSION = 1.16.0
RSOP_VERSION = 0.12.0
CADDY_VERSION = 2.11.9
ACTIONLINT_VERSION = 1.7.12
PIP_INSTALL = install -q --disable-pip-version-check --only-binary :all: --require-hashes
FUZZ_SECONDS ?= 60
KILLS ?= 200
# Besides the default ones: where libtss2-dev is installed.
TEST_FEATURES = --features keymark/tpm
ARGS ?=
# What is built of the workspace: without cards where what they need is missing and could not be installed.
CARDS = $(if $(wildcard /usr/include/PCSC/winscard.h),$(if $(shell command -v clang),yes))
KEYMARK = --profile $(PROFILE) -p keymark -p keymark-pcsc -p keymark-pkcs11 $(if $(CARDS),,--no-default-features --features keymark/rustcrypto)
# As Debian calls this architecture: x86_64-linux-gnu, arm-linux-gnueabihf.
LIBRARIES = /usr/lib/$(shell dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$$(uname -m)-linux-gnu")
# OpenSSL and SQLite of the system where their headers are and OpenSSL is 3.5 or later; compiled in elsewhere (docs/building.md).
system = $(if $(shell pkg-config $(1) 2>/dev/null && echo found),$(2),$(3))
export OPENSSL_NO_VENDOR = $(call system,--atleast-version=3.5 libssl,1,0)
export LIBSQLITE3_SYS_USE_PKG_CONFIG = $(call system,--atleast-version=3.44 sqlite3,1,0)

.PHONY: site bench bench-all bench-tls tls-peers capacity-check kryoptic caddy services zeitgitterd sop ciw check documents test browser format lint deny fuzz faults overhead calibration mcu-foreign packages-bench \
    packages-soft packages-sop packages-test packages-tls packages-browser packages-kryoptic packages-dist packages-cross packages-lint build clean deb dist sbom reproducible package-test ansible \
    fleet-test locust locust-test pictures

# Measures this machine, and ends with the file of its report: the default plan, or
# `make bench ARGS="--algorithm longest --samples 10"`.
bench: OR_CONTINUE = --or-continue
bench: packages-bench build
	$(BIN) bench -o target/report.html $(ARGS)

# The default plan, and every soft token that this machine can have: SoftHSM2, Kryoptic and a TPM. The library of the
# last is not safe in threads.
bench-all: bench packages-soft kryoptic
	$(BIN) bench --device softhsm,kryoptic,swtpm --algorithm rsa2048,nistp256 --operation sign \
	    --workers 1 --processes 2 --precision 5% --case-time 2m $(ARGS)
	$(BIN) bench --device softhsm,kryoptic --algorithm rsa2048,nistp256 --operation sign \
	    --workers 1,2 --processes 2 --precision 5% --case-time 2m $(ARGS)

# TLS servers under load, two minutes: Apache and nginx with keys in files, on SoftHSM2 and on a Nitrokey HSM's twin.
bench-tls: packages-bench packages-tls build
	$(BIN) tls bench --server apache,nginx --algorithm rsa2048,nistp256 --kex x25519,ecdhe-p256 --workers 8 --case-time 6s
	$(BIN) tls bench --server apache --device softhsm,twin:nitrokey-hsm --algorithm rsa2048 --workers 2 --case-time 20s

# keymark's TLS client compared with others, against one worker of nginx: the table of docs/methodology/tls.md. oha is compiled
# (ten minutes of processor time), the others are packages.
tls-peers: packages-bench packages-tls build
	scripts/packages wrk:wrk ab:apache2-utils siege:siege h2load:nghttp2-client hey:hey curl:curl taskset:util-linux
	[ -x target/tools/bin/oha ] || $(CARGO) install oha --version $(OHA_VERSION) --locked --root target/tools
	PATH="$$PATH:$(CURDIR)/target/tools/bin" scripts/tls-peers $(BIN)

# The planner compared with Apache and haproxy with 1, 2 and 4 twins, a quarter of an hour: the table of docs/methodology/capacity.md.
capacity-check: packages-bench packages-tls build
	scripts/capacity-check $(BIN)

# Kryoptic's PKCS#11 module, with the OpenSSL that keymark has: about a minute (docs/building.md).
kryoptic: packages-kryoptic
	scripts/kryoptic $(KEYMARK) $(TARGETS)

# Caddy, a TLS server that is not linked with OpenSSL, from its Go module: some minutes of processor time.
caddy:
	scripts/caddy $(CADDY_VERSION)

# Services that sign and timestamp: zeitgitterd in seconds, an RFC 3161 authority and relic from their Go modules in some
# minutes of processor time each.
services: zeitgitterd
	scripts/services rfc3161 relic

# Programs of Stateless OpenPGP: packages, and rsop from its crate with post-quantum composites, a quarter of an hour of
# processor time.
sop: packages-sop
	scripts/rsop $(RSOP_VERSION)

zeitgitterd:
	scripts/packages python3:python3 /usr/share/doc/python3-venv:python3-venv git:git
	scripts/services zeitgitterd

# What the library of queues Ciw, from PyPI, finds of the systems that the planner is held against; two minutes.
ciw:
	scripts/packages python3:python3 /usr/share/doc/python3-venv:python3-venv
	[ -x target/ciw/bin/python ] || python3 -m venv target/ciw
	target/ciw/bin/pip $(PIP_INSTALL) -r scripts/ciw.txt
	target/ciw/bin/python scripts/ciw-systems crates/cli/tests/it/ciw.jsonl

build:
	@$(if $(CARDS),:,echo "building without OpenPGP cards: they need clang and libpcsclite-dev")
	$(CARGO) build --locked $(KEYMARK)

# Debian packages of what is built, with both libraries inside, into target/deb (docs/installation.md).
deb dist package-test: PROFILE = installed
deb: system = 0
deb: packages-dist build kryoptic
	cp target/kryoptic/release/libkryoptic_pkcs11.so $(dir $(BIN))
	scripts/deb $(dir $(BIN))

# These and a tarball with the same for other distributions, with their checksums, into target/dist. With
# `ARCH="amd64 arm64 armhf"`, for those: built in a root of Debian 13, as root (docs/building.md).
ARCH ?=
ifdef ARCH
dist: packages-cross
	for arch in $(ARCH); do scripts/cross $$arch || exit 1; done
else
dist: deb
	scripts/dist $(dir $(BIN))
endif

# What the packages contain, as CycloneDX, into target/dist.
sbom: target/tools/bin/cargo-cyclonedx
	$< cyclonedx --format json --all-features --manifest-path crates/cli/Cargo.toml --override-filename keymark-sbom
	mv crates/cli/keymark-sbom.json target/dist/keymark-sbom.cdx.json
	git ls-files --others '*/keymark-sbom.json' | xargs rm -f
	cd target/dist && sha256sum -- keymark* >SHA256SUMS

# Two builds of one commit in two directories, compared byte by byte. As root; half an hour.
reproducible: packages-cross
	scripts/reproducible $(or $(ARCH),arm64)

# Both in fresh roots of Debian 12 and 13: installed, used, purged, nothing left. As root; some minutes, with downloads.
package-test: dist
	scripts/packages mmdebstrap:mmdebstrap unshare:util-linux
	scripts/package-test

# Ansible and its linter, at the versions of deploy/ansible/requirements.txt, from PyPI; lints the role.
ansible:
	scripts/packages python3:python3 /usr/share/doc/python3-venv:python3-venv ssh:openssh-client
	[ -x target/ansible/bin/python ] || python3 -m venv target/ansible
	target/ansible/bin/pip $(PIP_INSTALL) -r deploy/ansible/requirements.txt
	cd deploy/ansible && PATH=$(CURDIR)/target/ansible/bin:$$PATH ansible-lint --offline --strict

# The role on two machines with sshd, in network namespaces here. As root; some minutes, with downloads.
fleet-test: dist ansible
	scripts/packages mmdebstrap:mmdebstrap unshare:util-linux ip:iproute2
	scripts/fleet-test

# Locust, at the version of deploy/locust/requirements.txt, from PyPI (docs/locust.md).
locust:
	scripts/packages python3:python3 /usr/share/doc/python3-venv:python3-venv
	[ -x target/locust/bin/python ] || python3 -m venv target/locust
	target/locust/bin/pip $(PIP_INSTALL) -r deploy/locust/requirements.txt

# Load from one, two and four workers in network namespaces here, and on bad days. As root; four minutes.
locust-test: packages-bench packages-tls locust build
	scripts/packages ip:iproute2 faketime:faketime haproxy:haproxy
	scripts/locust-test $(BIN)

# For developers, within three minutes once everything is built: format, lints, unit tests, and the tests of the command line
# that need no server, reader or token.
LINTED = RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__
CHECKED = $(addsuffix ::,archives capacity command_line directories hostile interruption machine processes run series sharing site)
check: KEYMARK = --workspace $(TEST_FEATURES)
check: packages-lint format
	$(LINTED) $(CARGO) build --locked $(KEYMARK) --lib --bins --tests
	$(LINTED) $(CARGO) test --locked $(KEYMARK) --lib -- --skip on_a_server --skip tests::server:: --skip tests::roles::
	$(LINTED) $(CARGO) test --locked -p keymark-stats -p keymark-bench -p keymark-flash -p keymark-report --test it
	$(LINTED) $(CARGO) test --locked -p keymark --features keymark/tpm --test it -- $(CHECKED)

# Renews what the pages show of commands that print the same on every machine.
documents:
	KEYMARK_WRITE_DOCUMENTS=1 $(LINTED) $(CARGO) test --locked -p keymark $(TEST_FEATURES) --test it documents::

# Everything: formatting, lints, documents, tests of the whole workspace, licenses and advisories.
# clippy's driver compiles what it lints, and cargo builds the C libraries that tests load: nothing is compiled twice. Tests
# wait for servers and cards much of their time, so that twice as many run as there are processors.
test: KEYMARK = --workspace $(TEST_FEATURES)
test: TARGETS = --lib --bins --tests --examples --benches
test: packages-test packages-browser packages-kryoptic deny format
	$(LINTED) $(CARGO) build --locked $(KEYMARK) $(TARGETS)
	$(LINTED) scripts/kryoptic $(KEYMARK) $(TARGETS)
	$(LINTED) RUST_TEST_THREADS=$${RUST_TEST_THREADS:-$$(($$(nproc) * 2))} $(CARGO) test --locked $(KEYMARK)
	scripts/browser-tests target/debug/keymark

# The README's picture of a terminal: the last run of this machine.
pictures: build
	LANG=C.UTF-8 COLUMNS=100 $(BIN) show last --color always | \
	    $(CARGO) run --locked --quiet -p keymark --example terminal_picture >docs/pictures/terminal.svg

# A static site of the published figures alone, in target/site: a page per device, and one table with filters.
site: build
	mkdir -p $(CURDIR)/target/records
	$(BIN) site target/records --all-published -o target/site

# The report, the local page and the site in Debian's chromium, a minute and a half.
browser: packages-browser
	$(CARGO) build --locked --workspace --bin keymark $(TEST_FEATURES)
	scripts/browser-tests target/debug/keymark

format:
	$(CARGO) fmt --all -- --check
	scripts/check-docs
	scripts/check-writing

# The crates that others may use are packed as they would be published, and compared with the last release, if there is one. The fuzz
# targets are a workspace of their own, which no test compiles.
PUBLISHED = -p keymark-stats -p keymark-mcu -p keymark-flash
LAST_RELEASE = $(shell git describe --abbrev=0 --match 'v*' 2>/dev/null)
lint: packages-lint target/tools/bin/cargo-semver-checks format
	$(CARGO) clippy --workspace --all-targets --locked $(TEST_FEATURES) -- -D warnings
	$(CARGO) clippy -p keymark --locked --no-default-features --features keymark/rustcrypto -- -D warnings
	$(CARGO) check --locked --manifest-path fuzz/Cargo.toml
	$(CARGO) publish --dry-run --locked $(PUBLISHED)
	$(if $(LAST_RELEASE),$(CARGO) semver-checks $(PUBLISHED) --baseline-rev $(LAST_RELEASE),@echo "no release yet that cargo semver-checks could compare with")
	PATH=$$PATH:/usr/local/go/bin GOBIN=$(CURDIR)/target/tools/bin go install github.com/rhysd/actionlint/cmd/actionlint@v$(ACTIONLINT_VERSION)
	target/tools/bin/actionlint

# Tools of cargo, at versions that are known to work here.
CYCLONEDX_VERSION = 0.5.9
SEMVER_CHECKS_VERSION = 0.49.0
target/tools/bin/cargo-cyclonedx: VERSION = $(CYCLONEDX_VERSION)
target/tools/bin/cargo-semver-checks: VERSION = $(SEMVER_CHECKS_VERSION)
target/tools/bin/cargo-%:
	$(CARGO) install cargo-$* --version $(VERSION) --locked --quiet --root target/tools

deny:
	scripts/deny $(DENY_VERSION)

# Makes up what keymark reads from outside, for a minute: a first look. FUZZ_SECONDS=3600 takes its time.
fuzz: packages-bench
	scripts/packages c++:g++
	fuzz/run $(FUZZ_VERSION) $(FUZZ_SECONDS)

# Kills keymark 200 times in the middle of a run with every stack, and looks for what is left or lost.
faults: KEYMARK = --workspace $(TEST_FEATURES)
faults: packages-bench
	$(CARGO) build --locked $(KEYMARK)
	KEYMARK_KILLS=$(KILLS) $(CARGO) test --locked $(KEYMARK) --test it kills:: -- --nocapture

# The figures that keymark claims of itself, into their page; exits with 1 when one is missed.
FIGURES = $(CARGO) bench --locked -p keymark --bench figures --
overhead: packages-bench kryoptic sop build
	scripts/packages pkcs11-tool:opensc ods-hsmspeed:libhsm-bin
	$(FIGURES) overhead --markdown $(CURDIR)/docs/performance.md

# The same case twice in one plan, 100 times over, and the same program twice across runs: how often are the
# two called different? A quarter of an hour.
calibration: build
	$(FIGURES) calibration --markdown $(CURDIR)/docs/calibration.md

# Other people's cryptography in C, fetched from crates.io, in the simulator and in QEMU: the same output, the same number of
# instructions. A quarter of an hour; not in CI.
mcu-foreign: build
	scripts/packages arm-none-eabi-gcc:gcc-arm-none-eabi qemu-system-arm:qemu-system-arm
	scripts/mcu-foreign/run $(BIN)

# gpg, its agent, scdaemon and ssh-agent are measured; OpenSSL and SQLite are compiled from source;
# bindgen reads littlefs's header with libclang; cards in readers are reached through pcsc-lite, and SoftHSM2
# is the token that everybody has.
packages-bench:
	scripts/packages $(OR_CONTINUE) gpg:gpg gpg-agent:gpg-agent gpgconf:gpgconf cc:gcc make:make perl:perl git:git \
	    /usr/lib/gnupg/scdaemon:scdaemon /usr/include/PCSC/winscard.h:libpcsclite-dev \
	    pkg-config:pkg-config $(LIBRARIES)/libgmp.so:libgmp-dev clang:clang ssh:openssh-client ssh-agent:openssh-client \
	    softhsm2-util:softhsm2 /usr/include/sqlite3.h:libsqlite3-dev /usr/include/openssl/ssl.h:libssl-dev

# swtpm is a TPM, tpm2-abrmd its resource manager on a bus of its own, tpm2-pkcs11 the module before them.
packages-soft: packages-bench
	scripts/packages swtpm:swtpm dbus-daemon:dbus-daemon dbus-send:dbus-bin \
	    /usr/sbin/tpm2-abrmd:tpm2-abrmd tpm2_send:tpm2-tools \
	    $(LIBRARIES)/pkcs11/libtpm2_pkcs11.so:libtpm2-pkcs11-1 \
	    $(LIBRARIES)/libtss2-tcti-cmd.so.0:libtss2-tcti-cmd0 \
	    $(LIBRARIES)/libtss2-tcti-swtpm.so.0:libtss2-tcti-swtpm0 \
	    $(LIBRARIES)/libtss2-tcti-tabrmd.so.0:libtss2-tcti-tabrmd0

# The servers that are loaded, and OpenSSL's ways to keys on tokens.
packages-tls:
	scripts/packages /usr/sbin/apache2:apache2-bin /usr/sbin/nginx:nginx /usr/sbin/haproxy:haproxy openssl:openssl \
	    /usr/share/doc/libengine-pkcs11-openssl:libengine-pkcs11-openssl
	scripts/backports $(LIBRARIES)/ossl-modules/pkcs11.so:pkcs11-provider

# The virtual card is tested through pcscd and vpcd as if it were a real one, the simulator against QEMU,
# the committed kernels against what the compiler makes of them, PKCS#11 with SoftHSM2 and the programs of docs/your-program.md.
packages-test: packages-bench packages-soft packages-tls packages-sop caddy zeitgitterd
	scripts/packages pcscd:pcscd /etc/reader.conf.d/vpcd:vsmartcard-vpcd \
	    qemu-system-arm:qemu-system-arm arm-none-eabi-gcc:gcc-arm-none-eabi \
	    sqlite3:sqlite3 jq:jq rsvg-convert:librsvg2-bin pkcs11-tool:opensc p11tool:gnutls-bin /usr/sbin/sshd:openssh-server openssl:openssl \
    /usr/share/doc/libengine-pkcs11-openssl:libengine-pkcs11-openssl gnupg-pkcs11-scd:gnupg-pkcs11-scd \
	    keytool:default-jre-headless certutil:libnss3-tools \
	    /usr/lib/python3/dist-packages/cryptography:python3-cryptography /usr/lib/python3/dist-packages/PyKCS11:python3-pykcs11 curl:curl \
	    /usr/include/tss2/tss2_esys.h:libtss2-dev /usr/share/doc/postgresql-15:postgresql-15 \
	    /usr/sbin/apache2:apache2-bin /usr/sbin/nginx:nginx /usr/sbin/haproxy:haproxy
	scripts/backports $(LIBRARIES)/ossl-modules/pkcs11.so:pkcs11-provider

packages-sop:
	scripts/packages sqop:sqop gosop:gosop pgpainless-cli:pgpainless-cli

# Kryoptic keeps its objects in the distribution's SQLite.
packages-kryoptic: packages-bench
	scripts/packages /usr/include/sqlite3.h:libsqlite3-dev

# What is compiled for tests, but not by `make bench`.
packages-lint: packages-bench
	scripts/packages /usr/include/tss2/tss2_esys.h:libtss2-dev shellcheck:shellcheck

# What makes packages of what is built; licenses are read from the sources of the crates.
packages-dist: packages-bench
	scripts/packages dh:debhelper dpkg-buildpackage:dpkg-dev python3:python3 /usr/include/sqlite3.h:libsqlite3-dev

# Roots of other architectures, and what runs their programs here.
packages-cross:
	scripts/packages mmdebstrap:mmdebstrap unshare:util-linux python3:python3 /usr/share/doc/python3-venv:python3-venv \
	    qemu-arm-static:qemu-user-static update-binfmts:binfmt-support arch-test:arch-test

# A browser, and what runs the program that drives it.
packages-browser:
	scripts/packages chromium:chromium node:nodejs npm:npm

clean:
	$(CARGO) clean
