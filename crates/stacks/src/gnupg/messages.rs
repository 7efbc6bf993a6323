//! The user's messages that gpg is given.

use std::fs;
use std::path::{Path, PathBuf};

use keymark_bench::error::Error;
use keymark_bench::operation::Operation;

use super::key_home::KeyHome;
use crate::programs::write_private;

/// Messages a key is asked about in turn.
const MESSAGES: usize = 4;

/// A message and, for decryption, its encrypted form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What is signed, or comes out of the decryption.
    pub plaintext: Vec<u8>,
    /// The file that gpg is given.
    pub file: PathBuf,
}

/// Messages of `input_bytes` printable bytes, in files of the home; encrypted to its key if they are to
/// be decrypted.
pub fn messages(
    home: &KeyHome,
    operation: Operation,
    input_bytes: u32,
) -> Result<Vec<Message>, Error> {
    (0..MESSAGES)
        .map(|number| {
            let name = format!("{operation}-{input_bytes}-{number}");
            let name = home.home.path().join(name);
            let plaintext = written(&name, input_bytes)?;
            if operation.signs() {
                return Ok(Message {
                    plaintext,
                    file: name,
                });
            }
            encrypted(home, operation, plaintext, &name)
        })
        .collect()
}

/// The text in the file. What another case of this run has written serves again: it is checked by it, too.
fn written(name: &Path, length: u32) -> Result<Vec<u8>, Error> {
    if let Ok(plaintext) = fs::read(name) {
        return Ok(plaintext);
    }
    let plaintext = text(length as usize)?;
    write_private(name, &plaintext)?;
    Ok(plaintext)
}

fn encrypted(
    home: &KeyHome,
    operation: Operation,
    plaintext: Vec<u8>,
    name: &Path,
) -> Result<Message, Error> {
    let file = name.with_extension("gpg");
    if file.exists() {
        return Ok(Message { plaintext, file });
    }
    let recipient = &*home.key(operation)?.exactly();
    let (to, from) = (file.to_string_lossy(), name.to_string_lossy());
    let arguments = [
        "--trust-model",
        "always",
        "-r",
        recipient,
        "--output",
        &*to,
        "--encrypt",
        &*from,
    ];
    home.home.run("gpg --encrypt", &arguments)?;
    Ok(Message { plaintext, file })
}

/// Printable text, so that a signed file looks like one.
fn text(length: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; length];
    openssl::rand::rand_bytes(&mut bytes).map_err(|error| Error::call("RAND_bytes", error, ""))?;
    Ok(bytes.into_iter().map(|byte| b'a' + byte % 26).collect())
}
