//! What gpg itself says of signed messages.

use std::fs;

use keymark_bench::workload::Verifiable;

use crate::gnupg::home::Home;
use crate::gnupg::status;

/// One gpg process for all of them; it looks at who signed, not at the text.
pub(super) fn verdicts(
    home: &Home,
    signer: &str,
    results: &[Verifiable<'_>],
) -> Result<Vec<Result<(), String>>, String> {
    let failed = |error: std::io::Error| format!("gpg --verify-files failed: {error}");
    let dir = home.path().join("check");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir(&dir).map_err(failed)?;
    let mut command = home.gpg();
    command.args(["--trust-model", "always", "--verify-files"]);
    for (number, result) in results.iter().enumerate() {
        let file = dir.join(format!("{number}.gpg"));
        fs::write(&file, result.output).map_err(failed)?;
        command.arg(file);
    }
    let output = command.output().map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let refusal = Err(format!(
        "the signature does not verify: {}",
        status::complaint(&said)
    ));
    let mut verdicts: Vec<Result<(), String>> = vec![refusal; results.len()];
    let mut current = None;
    for line in status::status_lines(&said) {
        match line.keyword {
            // FILE_START 1 path
            "FILE_START" => current = current.map_or(Some(0), |number: usize| Some(number + 1)),
            // The key that signed comes first, its primary key last.
            "VALIDSIG" if line.arguments.first() == Some(&signer) => {
                if let Some(verdict) = current.and_then(|number| verdicts.get_mut(number)) {
                    *verdict = Ok(());
                }
            }
            _ => {}
        }
    }
    Ok(verdicts)
}
