//! `keymark`: what a private key costs, wherever it is kept.

use std::process::ExitCode;

fn main() -> ExitCode {
    keymark::run(std::env::args_os()).into()
}
