//! SoftHSM2 with a token of a test's own, filled by programs that are not keymark's, and a module before it
//! that misbehaves.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::place::said;
use crate::process::compiled;

/// The token's user PIN.
pub const PIN: &str = "271828";
/// Its label, with what a URI has to encode.
pub const LABEL: &str = "my token";
/// URI of the token.
pub const URI: &str = "pkcs11:token=my%20token";
/// Variable with the path of SoftHSM2's configuration.
pub const CONFIGURATION: &str = "SOFTHSM2_CONF";

/// A configuration and a token; gone with the value.
#[derive(Debug)]
pub struct SoftHsmToken {
    directory: TempDir,
}

impl SoftHsmToken {
    /// Initializes the token with `softhsm2-util`.
    pub fn new() -> Self {
        let token = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        let tokens = token.directory.path().join("tokens");
        std::fs::create_dir(&tokens).unwrap();
        let text = format!("directories.tokendir = {}\n", tokens.display());
        std::fs::write(token.configuration(), text).unwrap();
        let mut util = Command::new("softhsm2-util");
        util.args(["--init-token", "--free", "--label", LABEL]);
        token.run(util.args(["--so-pin", "31415926", "--pin", PIN]));
        token
    }

    /// Returns the path for `SOFTHSM2_CONF`.
    pub fn configuration(&self) -> PathBuf {
        self.directory.path().join("softhsm2.conf")
    }

    /// A file of the test's in the same place.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The library.
    pub fn library() -> PathBuf {
        let usual = ["/usr/lib/softhsm", "/usr/lib64/pkcs11", "/usr/lib/pkcs11"];
        let files = usual.map(|directory| Path::new(directory).join("libsofthsm2.so"));
        let there = files.into_iter().find(|file| file.exists());
        there.expect("install it with 'apt-get install softhsm2'")
    }

    /// Makes a key pair with OpenSC's `pkcs11-tool`: `rsa:2048`, `EC:prime256v1`.
    pub fn make_key(&self, kind: &str, id: &str, label: &str) {
        let mut tool = self.pkcs11_tool();
        tool.args(["--keypairgen", "--key-type", kind]);
        tool.args(["--id", id, "--label", label]);
        self.run(tool.args(["--usage-sign", "--usage-decrypt", "--usage-derive"]));
    }

    /// Puts a certificate next to an RSA key, as an administrator does: made by `openssl` with the engine, written by
    /// `pkcs11-tool`.
    pub fn certify(&self, id: &str, label: &str) {
        let (certificate, pin) = (self.path("certificate.der"), self.path("certificate.pin"));
        std::fs::write(&pin, PIN).unwrap();
        let key = format!(
            "{URI};object={label};type=private?pin-source=file:{}",
            pin.display()
        );
        let mut openssl = Command::new("openssl");
        openssl.args([
            "req", "-x509", "-new", "-engine", "pkcs11", "-keyform", "engine",
        ]);
        openssl.args(["-key", &key, "-subj", "/CN=web", "-outform", "DER", "-out"]);
        openssl
            .arg(&certificate)
            .env("PKCS11_MODULE_PATH", Self::library());
        self.run(&mut openssl);
        let mut tool = self.pkcs11_tool();
        tool.args(["--type", "cert", "--id", id, "--label", label]);
        self.run(tool.arg("--write-object").arg(&certificate));
    }

    /// `pkcs11-tool`, logged in to the token.
    pub fn pkcs11_tool(&self) -> Command {
        let mut tool = Command::new("pkcs11-tool");
        tool.arg("--module").arg(Self::library());
        tool.args(["--token-label", LABEL, "--login", "--pin", PIN]);
        tool
    }

    /// Runs a program with this configuration.
    pub fn run(&self, command: &mut Command) -> Output {
        let output = command.env(CONFIGURATION, self.configuration()).output();
        let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        assert!(output.status.success(), "{command:?}: {}", said(&output));
        output
    }

    /// The module in front of SoftHSM2 and does what `$KEYMARK_TEST_MODULE` says.
    pub fn misbehaving_module(&self) -> PathBuf {
        static MODULE: LazyLock<PathBuf> = LazyLock::new(|| {
            let source = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/pkcs11_module.c");
            let library = format!("-DSOFTHSM=\"{}\"", SoftHsmToken::library().display());
            compiled("misbehaving.so", &["-shared", "-fPIC", &library, source])
        });
        let file = self.path("misbehaving.so");
        std::fs::copy(&*MODULE, &file).unwrap();
        file
    }
}

impl Default for SoftHsmToken {
    fn default() -> Self {
        Self::new()
    }
}
