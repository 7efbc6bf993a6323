//! What of the pages cannot be run as it stands, each with its reason. A command that is not here is run; an entry
//! that no page has any more is an error.

/// What is done in place of running it to success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instead {
    /// Nothing.
    Nothing,
    /// Its plan is made (`--dry-run`), since it takes long with few runs too.
    Plan,
    /// It is run, and may also end with one of these statuses.
    MayEndWith(&'static [i32]),
}

/// A command, or several, by how they begin.
#[derive(Debug)]
pub struct Exception {
    /// The beginning, of commands in pages.
    pub begins: &'static str,
    pub instead: Instead,
    /// For whoever reads this.
    pub why: &'static str,
}

const fn nothing(begins: &'static str, why: &'static str) -> Exception {
    let instead = Instead::Nothing;
    Exception {
        begins,
        instead,
        why,
    }
}

const fn plan(begins: &'static str, why: &'static str) -> Exception {
    let instead = Instead::Plan;
    Exception {
        begins,
        instead,
        why,
    }
}

const fn may_end_with(
    statuses: &'static [i32],
    begins: &'static str,
    why: &'static str,
) -> Exception {
    let instead = Instead::MayEndWith(statuses);
    Exception {
        begins,
        instead,
        why,
    }
}

pub const EXCEPTIONS: &[Exception] = &[
    // The machine and the build.
    nothing("make ", "builds all; is what runs this test"),
    nothing("cargo ", "builds with optimisation"),
    nothing("apt-get ", "changes the machine"),
    nothing("install -D target/release/", "is about the release build"),
    nothing("/usr/bin/time ", "a hundred records that nobody has"),
    nothing("keymark site records -o public && rsync ", "another host"),
    // Cards, tokens and hosts of the reader's.
    nothing(
        "keymark trace -- gpg --decrypt message.gpg",
        "a card in a reader; tests/it/cards traces one",
    ),
    nothing("keymark bench --device nitrokey ", "a card in a reader"),
    nothing("keymark bench --device 0a1b2c3d ", "a card in a reader"),
    nothing(
        "keymark token serve ",
        "serves until Ctrl-C; tests/it/virtual_cards.rs and tests/it/pkcs11/twins.rs",
    ),
    nothing(
        "keymark trace --pkcs11 ",
        "a token of the reader's; tests/trace.rs traces one",
    ),
    nothing(
        "keymark bench --device 'pkcs11:token=my%20token",
        "a token of the reader's; tests/it/pkcs11",
    ),
    nothing(
        "PIN=… keymark bench ",
        "a token of the reader's; tests/it/pkcs11",
    ),
    nothing(
        "keymark bench --device softhsm2 ",
        "a token of the reader's; tests/it/pkcs11",
    ),
    nothing(
        "keymark bench --device /opt/cloudhsm/",
        "a token of the reader's",
    ),
    nothing(
        "keymark bench --device \"pkcs11:?module-name=nss",
        "a token of the reader's; tests/it/pkcs11",
    ),
    nothing(
        "keymark tls bench --connect ",
        "a server of the reader's; tests/tls_connect.rs",
    ),
    nothing(
        "keymark tls config ",
        "a token of the reader's; tests/tls.rs",
    ),
    nothing(
        "keymark tls check ",
        "a configuration of the reader's; tests/tls.rs",
    ),
    // Runs of the reader's.
    nothing(
        "keymark compare old new1 new2 new3",
        "names that stand for runs",
    ),
    nothing(
        "keymark compare last last~1 --baseline 20261121-0415",
        "a name that stands for a run",
    ),
    may_end_with(
        &[2],
        "keymark share last -o records/run.json",
        "asks on a terminal before it writes",
    ),
    may_end_with(
        &[1],
        "keymark compare series:last~1 series:last --fail-above",
        "so few samples differ",
    ),
    nothing(
        "keymark compare published-lwn-2017-keycards last",
        "the run with twins, which is only planned here",
    ),
    nothing(
        "keymark plot last --kind throughput --case rsa2048",
        "the run with a twin, which is only planned here",
    ),
    nothing(
        "keymark compare last~1 last ",
        "the page's last two runs have no case in common; tests/sharing.rs compares two",
    ),
    // What this machine lacks.
    may_end_with(
        &[1],
        "keymark tls bench --server nginx --algorithm rsa2048 --kex rsa,",
        "X25519MLKEM768 needs OpenSSL 3.5",
    ),
    may_end_with(
        &[1],
        "keymark tls bench --server nginx --algorithm nistp256,mldsa65",
        "ML-DSA needs OpenSSL 3.5",
    ),
    may_end_with(
        &[1],
        "keymark bench --device twin:fst-01 --algorithm cv25519",
        "a debug build on a busy machine may need more than that card's 99 ms",
    ),
    may_end_with(
        &[2],
        "keymark trace --device twin:fst-01 ",
        "a debug build on a busy machine may need more than that card's 99 ms",
    ),
    // What takes long.
    plan(
        "keymark bench --algorithm all ",
        "a minute: makes a key of each algorithm",
    ),
    plan(
        "keymark bench --algorithm rsa4096,cv25519 --stack raw,agent,gnupg --concurrency",
        "24 cases with keys for gpg",
    ),
    plan(
        "keymark bench --algorithm rsa4096,ed25519 --operation sign --repeat",
        "each run makes its keys",
    ),
    plan(
        "keymark tls bench --server apache --device softhsm,twin:nitrokey-hsm",
        "half a minute to end twenty users",
    ),
    plan(
        "keymark bench --device virtual,twin:",
        "a debug build's card takes seconds to make each key",
    ),
    plan(
        "keymark bench --device twin:f405.toml ",
        "a debug build is slower than that token",
    ),
    plan(
        "keymark bench --device software,twin:",
        "cards that take seconds, at several concurrencies",
    ),
    plan(
        "keymark bench --device twin:yubikey-4,twin:",
        "cards that take seconds",
    ),
    plan(
        "keymark bench --device twin:nitrokey-hsm --algorithm rsa2048 --operation sign",
        "three quarters of a second an operation, fifty of them",
    ),
    plan("keymark tls suite ", "a minute and more"),
    plan(
        "keymark tls bench --server nginx --algorithm nistp256 --saturate",
        "a minute: many loads of three seconds",
    ),
];

/// What a page takes for granted: run before its first command, in the same place.
pub const BEFORE: &[(&str, &str)] = &[
    (
        "README.md",
        "keymark bench --algorithm ed25519,cv25519 --stack gnupg --repeat 5",
    ),
    (
        "docs/bench.md",
        "for when in before after; do keymark bench --algorithm ed25519 --stack raw --repeat 5; done && \
         keymark share last -o run.json --yes",
    ),
    // What is measured of a card in a reader.
    (
        "docs/cards.md",
        "\"$KEYMARK\" bench --device twin:yubikey-4 --algorithm rsa2048 --operation decrypt --stack raw --runs 20",
    ),
    (
        "docs/comparing.md",
        "for when in before after; do keymark bench --algorithm ed25519 --stack raw --repeat 5; done && \
         keymark bench --device software,twin:yubikey-4 --algorithm rsa2048,cv25519 --operation decrypt \
         --stack gnupg --replicas 2",
    ),
    (
        "docs/pictures.md",
        "keymark bench --algorithm rsa2048 --operation decrypt --stack raw,gnupg --concurrency 1,2,4",
    ),
    (
        "docs/published.md",
        "keymark bench --algorithm rsa2048 --operation decrypt --stack gnupg",
    ),
    (
        "docs/report.md",
        "for when in before after; do keymark bench --algorithm ed25519 --stack raw; done",
    ),
    (
        "docs/site.md",
        "mkdir records && keymark bench --algorithm ed25519 --stack raw && \
         keymark share last -o records/other.json --yes",
    ),
];
