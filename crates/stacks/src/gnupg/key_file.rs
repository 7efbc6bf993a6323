//! The agent's key files: private keys as S-expressions (agent/keyformat.txt of GnuPG).

use std::fs;
use std::path::Path;

use keymark_bench::error::Error;
use keymark_stores::software::libgcrypt::key;
use keymark_stores::test_key::TestKey;

use super::home::Home;
use crate::programs::write_private;

/// Puts a key among those of the home's agent, in the clear, under its keygrip, which GnuPG's own tool
/// computes.
pub fn put(home: &Home, test_key: &TestKey) -> Result<String, Error> {
    let keys = &home.path().join("private-keys-v1.d");
    make_directory(keys)?;
    let call = "gpg-protect-tool --show-keygrip";
    let file = keys.join("new.key");
    write_private(&file, &key::encode(test_key)?)?;
    let mut tool = home.gnupg().libexec("gpg-protect-tool")?;
    let output = tool
        .arg("--show-keygrip")
        .arg(&file)
        .output()
        .map_err(|error| Error::call(call, error, ""))?;
    let grip = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if grip.len() != 40 {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::call(call, format!("{}: {said}", output.status), ""));
    }
    let named = keys.join(format!("{grip}.key"));
    fs::rename(&file, &named)
        .map_err(|error| Error::call(format!("renaming {}", file.display()), error, ""))?;
    Ok(grip)
}

fn make_directory(keys: &Path) -> Result<(), Error> {
    use std::os::unix::fs::DirBuilderExt;
    // The agent may have made it meanwhile.
    let made = fs::DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(keys);
    made.map_err(|error| Error::call(format!("mkdir {}", keys.display()), error, ""))
}
