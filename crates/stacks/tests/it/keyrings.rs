//! Which key of a keyring is used: what keymark chooses is what gpg itself would.

use std::io::Write;
use std::process::Stdio;

use keymark_bench::operation::Operation;
use keymark_stacks::gnupg::Gnupg;
use keymark_stacks::gnupg::home::Home;
use keymark_stacks::gnupg::listing::chosen;
use keymark_stacks::gnupg::status::status_lines;
use keymark_stacks::private_dir::PrivateDir;
use keymark_testkit::assert_says;

/// A home to which a test adds keys as a user does.
struct Keyring {
    home: Home,
    primary: String,
    _dir: PrivateDir,
}

impl Keyring {
    fn with_primary(usage: &str) -> Self {
        let dir = PrivateDir::new().unwrap();
        let home = Home::new(&Gnupg::find(None).unwrap(), dir.subdirectory("g").unwrap()).unwrap();
        let mut keyring = Self {
            home,
            primary: String::new(),
            _dir: dir,
        };
        keyring.run(
            "01",
            &["--quick-gen-key", "owner", "ed25519", usage, "never"],
        );
        keyring.primary = keyring.home.keys().unwrap()[0].fingerprint.clone();
        keyring
    }

    fn run(&self, day: &str, arguments: &[&str]) {
        let common = ["--pinentry-mode", "loopback", "--passphrase", ""];
        let day = format!("202601{day}T000000!");
        let all = [&["--faked-system-time", &day][..], &common, arguments].concat();
        self.home.run(&arguments.join(" "), &all).unwrap();
    }

    fn subkey(&self, day: &str, algorithm: &str, usage: &str, expires: &str) {
        self.run(
            day,
            &["--quick-add-key", &self.primary, algorithm, usage, expires],
        );
    }

    /// The owner keeps the primary key's secret part elsewhere.
    fn take_primary_offline(&self) {
        let grip = &self.home.keys().unwrap()[0].keygrip;
        let file = format!("private-keys-v1.d/{grip}.key");
        let file = self.home.path().join(file);
        std::fs::remove_file(file).unwrap();
    }

    fn revoke_subkey(&self, number: u32) {
        let mut gpg = self.home.gpg();
        let mut gpg = gpg
            .args(["--no-batch", "--command-fd", "0", "--edit-key"])
            .arg(&self.primary)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let commands = format!("key {number}\nrevkey\ny\n0\n\ny\nsave\n");
        let mut input = gpg.stdin.take().unwrap();
        input.write_all(commands.as_bytes()).unwrap();
        drop(input);
        assert!(gpg.wait().unwrap().success());
    }

    /// The fingerprint of what keymark chooses.
    fn chosen(&self, operation: Operation) -> String {
        let keys = self.home.keys().unwrap();
        chosen(&keys, operation).unwrap().fingerprint.clone()
    }

    /// A file with that in it.
    fn message(&self, content: impl AsRef<[u8]>) -> String {
        let file = self.home.path().join("message");
        std::fs::write(&file, content).unwrap();
        file.display().to_string()
    }

    /// The fingerprint of the key that gpg signs with when it may choose.
    fn signed_with(&self) -> String {
        let file = self.message("x");
        let arguments = ["-u", &self.primary, "--output", "-", "--sign", &file];
        let (_, said) = self.home.run("gpg --sign", &arguments).unwrap();
        let created = status_lines(&said).find(|(keyword, _)| *keyword == "SIG_CREATED");
        let (_, fingerprint) = created.unwrap().1.rsplit_once(' ').unwrap();
        fingerprint.to_owned()
    }

    /// The long identifier of the key that gpg encrypts to when it may choose.
    fn encrypted_to(&self) -> String {
        let file = self.message("x");
        let trusted = ["--trust-model", "always", "-r", &self.primary];
        let arguments = [&trusted[..], &["--output", "-", "--encrypt", &file]].concat();
        let (message, _) = self.home.run("gpg --encrypt", &arguments).unwrap();
        let arguments = ["--decrypt", &self.message(message)];
        let (_, said) = self.home.run("gpg --decrypt", &arguments).unwrap();
        let to = status_lines(&said).find(|(keyword, _)| *keyword == "ENC_TO");
        to.unwrap().1.split(' ').next().unwrap().to_owned()
    }

    fn chooses_as_gpg_does(&self, place: usize) {
        let expected = &self.home.keys().unwrap()[place].fingerprint;
        assert_eq!(self.signed_with(), *expected, "gpg");
        assert_eq!(self.chosen(Operation::Sign), *expected, "keymark");
    }
}

#[test]
fn a_certifying_primary_key_has_subkeys_for_the_work() {
    let keyring = Keyring::with_primary("cert");
    keyring.subkey("02", "ed25519", "sign", "never");
    keyring.subkey("03", "cv25519", "encr", "never");
    keyring.chooses_as_gpg_does(1);
    keyring.take_primary_offline();
    keyring.chooses_as_gpg_does(1);
    let decrypting = keyring.chosen(Operation::Decrypt);
    assert!(
        decrypting.ends_with(&keyring.encrypted_to()),
        "{decrypting}"
    );
}

#[test]
fn a_primary_key_that_signs_too_may_be_offline() {
    let keyring = Keyring::with_primary("sign,cert");
    keyring.chooses_as_gpg_does(0);
    keyring.subkey("02", "ed25519", "sign", "never");
    keyring.take_primary_offline();
    keyring.chooses_as_gpg_does(1);
}

#[test]
fn of_several_the_newest_that_is_neither_revoked_nor_expired_is_used() {
    let keyring = Keyring::with_primary("cert");
    for (day, expires) in [
        ("02", "never"),
        ("03", "never"),
        ("04", "never"),
        ("05", "1d"),
    ] {
        keyring.subkey(day, "ed25519", "sign", expires);
        keyring.subkey(day, "cv25519", "encr", expires);
    }
    // Keys 7 and 8 of the fourth day have expired; 5 is the third day's that signs.
    keyring.chooses_as_gpg_does(5);
    keyring.revoke_subkey(5);
    keyring.chooses_as_gpg_does(3);
    let decrypting = keyring.chosen(Operation::Decrypt);
    assert!(
        decrypting.ends_with(&keyring.encrypted_to()),
        "{decrypting}"
    );
}

#[test]
fn a_key_that_gpg_would_not_use_is_named_with_the_reason() {
    let keyring = Keyring::with_primary("cert");
    keyring.subkey("02", "ed25519", "sign", "1d");
    let keys = keyring.home.keys().unwrap();
    let error = chosen(&keys, Operation::Sign).unwrap_err().to_string();
    assert_says(&error, [&keys[1].fingerprint, "has expired"]);
}
