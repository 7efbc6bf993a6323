//! What keymark claims about itself: `cargo bench -p keymark --bench figures -- overhead`.

// Without a harness its tests do not run here: they are among those of tests/it.
#[cfg_attr(
    test,
    allow(dead_code, unused_imports, reason = "tests run in tests/it")
)]
mod claims;

use std::process::ExitCode;

fn main() -> ExitCode {
    // cargo adds its own word for harnesses.
    let arguments = std::env::args_os().skip(1);
    match claims::run(arguments.filter(|word| word != "--bench").collect()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
