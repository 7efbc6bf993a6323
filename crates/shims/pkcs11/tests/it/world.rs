//! A token with keys, the library before it, and a client in C.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;

use keymark_shim_protocol::pkcs11::settings::{Settings, TwinSettings};
use keymark_testkit::process::{built_library, compiled};
use keymark_testkit::softhsm::{CONFIGURATION, PIN, SoftHsmToken};

/// The key that is used: RSA, of 2048 bits.
pub(crate) const KEY: &str = "1";

/// Gone with the value.
pub(crate) struct World {
    pub(crate) token: SoftHsmToken,
    /// The library as it is loaded.
    pub(crate) module: PathBuf,
    settings: Settings,
}

/// An operation of a client: its process and thread, its begin and end in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) process: u32,
    pub(crate) thread: u64,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

impl World {
    /// A token with one key, and the library before SoftHSM2.
    pub(crate) fn new() -> Self {
        let token = SoftHsmToken::new();
        token.make_key("rsa:2048", "01", "key");
        let module = token.path("keymark.so");
        std::fs::copy(built_library("keymark-pkcs11"), &module).unwrap();
        let mut world = Self {
            settings: Settings::default(),
            token,
            module,
        };
        let environment = (
            CONFIGURATION.to_owned(),
            world.token.configuration().display().to_string(),
        );
        world.set(Settings {
            module: Some(SoftHsmToken::library()),
            environment: BTreeMap::from([environment]),
            ..Settings::default()
        });
        world
    }

    /// Changes the settings next to the library.
    pub(crate) fn set(&mut self, settings: Settings) {
        settings.write(&Settings::beside(&self.module)).unwrap();
        self.settings = settings;
    }

    pub(crate) fn traced(mut self) -> (Self, PathBuf) {
        let trace = self.token.path("trace");
        self.set(Settings {
            trace: Some(trace.clone()),
            ..self.settings.clone()
        });
        (self, trace)
    }

    /// A twin that takes that number of milliseconds to sign and to decrypt.
    pub(crate) fn twin(self, milliseconds: u32) -> Self {
        self.twin_with(milliseconds, |_| {})
    }

    /// A twin of 20 ms behind a network, with these lines of its profile.
    pub(crate) fn remote(self, network: &str) -> Self {
        let world = self.twin(20);
        let profile = world.token.path("profile.toml");
        let text = std::fs::read_to_string(&profile).unwrap();
        std::fs::write(&profile, format!("{text}[network]\n{network}\n")).unwrap();
        world
    }

    pub(crate) fn twin_with(
        mut self,
        milliseconds: u32,
        change: impl FnOnce(&mut TwinSettings),
    ) -> Self {
        let profile = self.token.path("profile.toml");
        let seconds = f64::from(milliseconds) / 1e3;
        let text = format!(
            "schema=1\nname='x'\nstore='pkcs11'\nproduct='X'\nsource='a test'\n\
             [[service]]\nalgorithm='rsa2048'\noperation='decrypt'\nconstant_s={seconds}\n\
             [[service]]\nalgorithm='rsa2048'\noperation='sign'\nassumed='as decrypt'\n"
        );
        std::fs::write(&profile, text).unwrap();
        let mut twin = TwinSettings {
            profile: profile.display().to_string(),
            device: Some(self.token.path("device")),
            ..TwinSettings::default()
        };
        change(&mut twin);
        self.set(Settings {
            twin: Some(twin),
            ..self.settings.clone()
        });
        self
    }

    /// The client, whose environment has nothing of all this.
    pub(crate) fn client(&self, callers: (u32, u32), count: u32, how: &[&str]) -> Command {
        static CLIENT: LazyLock<PathBuf> = LazyLock::new(|| {
            let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/client.c");
            let options = ["-Wno-deprecated-non-prototype", source, "-ldl", "-lpthread"];
            compiled("client", &options)
        });
        let mut client = Command::new(&*CLIENT);
        client
            .env_clear()
            .arg(&self.module)
            .args([PIN, KEY])
            .args([callers.0, callers.1, count].map(|number| number.to_string()))
            .args(how)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        client
    }

    pub(crate) fn operations(
        &self,
        callers: (u32, u32),
        count: u32,
        how: &[&str],
    ) -> Vec<Operation> {
        done(&self.client(callers, count, how).output().unwrap())
    }

    /// OpenSC's tool, logged in through the library.
    pub(crate) fn pkcs11_tool(&self, module: &Path) -> Command {
        let mut tool = Command::new("pkcs11-tool");
        tool.arg("--module").arg(module);
        tool.args(["--token-label", "my token", "--login", "--pin", PIN]);
        tool
    }
}

pub(crate) fn done(output: &Output) -> Vec<Operation> {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    parsed(&output.stdout)
}

pub(crate) fn parsed(lines: &[u8]) -> Vec<Operation> {
    let operation = |line: &str| {
        let numbers: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        Operation {
            process: numbers[0].try_into().unwrap(),
            thread: numbers[1],
            begin: numbers[2],
            end: numbers[3],
        }
    };
    let text = std::str::from_utf8(lines).unwrap();
    let mut all: Vec<Operation> = text.lines().map(operation).collect();
    all.sort_by_key(|operation| operation.end);
    all
}

/// Ends a client and the processes that it has started, at once.
pub(crate) fn killed(mut child: Child) {
    signal_children(&child, "KILL");
    child.wait().unwrap();
}

/// Sends the processes that a client has started a signal.
pub(crate) fn signal_children(child: &Child, signal: &str) {
    let pids = Command::new("pgrep")
        .args(["-P", &child.id().to_string()])
        .output()
        .unwrap();
    for pid in String::from_utf8(pids.stdout).unwrap().lines() {
        let status = Command::new("kill").args(["-s", signal, pid]).status();
        assert!(status.unwrap().success());
    }
}
