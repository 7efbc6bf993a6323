//! A reader who types the commands of a page, in a home and a directory of their own.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use keymark_testkit::place::short_directory;
use keymark_testkit::process::write_script;
use tempfile::TempDir;

use super::exceptions::Instead;
use super::page::root;
use crate::KEYMARK;

/// A program before keymark on the reader's `PATH`: what is measured is planned as the page has it, then measured with
/// few runs.
const FEW: &str = r#"case "$*" in
    "tls bench"* | "tls suite"*) few="--case-time 2s" ;;
    # Rates need times in which all workers are busy.
    "bench "*--workers*) few="--samples 8" ;;
    "bench"*) few="--samples 2" ;;
    *) exec "$KEYMARK" "$@" ;;
esac
if [ -n "$KEYMARK_ONLY_PLAN" ]; then exec "$KEYMARK" "$@" --dry-run; fi
"$KEYMARK" "$@" --dry-run >/dev/null || exit
left=$#
while [ "$left" -gt 0 ]; do
    [ "$1" != --repeat ] || few="$few --repeat 3 --pause 1ms"
    case "$1" in
        --case-time | --repeat | --samples | --precision | --case-time | --time) shift 2; left=$((left - 2)) ;;
        *) set -- "$@" "$1"; shift; left=$((left - 1)) ;;
    esac
done
exec "$KEYMARK" "$@" $few"#;
/// Seconds for one command, which only one that hangs takes.
const LIMIT: &str = "300";

/// A home, and in it a directory with what a reader has at hand.
#[derive(Debug)]
pub struct Reader {
    home: TempDir,
}

impl Reader {
    pub fn new() -> Self {
        let home = short_directory();
        let place = home.path().join("here");
        for directory in ["here", "here/docs/pictures", "bin"] {
            std::fs::create_dir_all(home.path().join(directory)).unwrap();
        }
        write_script(&home.path().join("bin/keymark"), FEW);
        let link = |to: &Path, name: &str| {
            std::os::unix::fs::symlink(to, place.join(name)).unwrap();
        };
        link(&root().join("data"), "data");
        link(Path::new(KEYMARK), "the-same-keymark");
        let kernel = "crates/mcu/kernels/elf/ed25519-umull-o2.elf";
        for name in ["firmware.elf", "before.elf", "after.elf"] {
            link(&root().join(kernel), name);
        }
        Self { home }
    }

    /// Has a shell run it.
    pub fn types(&self, text: &str, instead: &Instead) -> Output {
        let home = self.home.path();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("timeout");
        shell
            .args([
                "--kill-after=5",
                LIMIT,
                "bash",
                "-o",
                "pipefail",
                "-c",
                text,
            ])
            .current_dir(home.join("here"))
            .stdin(Stdio::null())
            .env("HOME", home)
            .env("PATH", format!("{}:{path}", home.join("bin").display()))
            .env("KEYMARK", KEYMARK)
            .env("PCSCLITE_CSOCK_NAME", "/nonexistent");
        for variable in [
            "KEYMARK_ARCHIVE",
            "XDG_DATA_HOME",
            "XDG_STATE_HOME",
            "COLUMNS",
            "GNUPGHOME",
        ] {
            shell.env_remove(variable);
        }
        if *instead == Instead::Plan {
            shell.env("KEYMARK_ONLY_PLAN", "1");
        }
        shell.output().unwrap()
    }
}
