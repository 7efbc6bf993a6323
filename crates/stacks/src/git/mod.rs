//! The stack `git`: one `git commit` process for each operation, in a private repository, signed by gpg or ssh-keygen, or
//! not signed. The user's configuration of git is neither read nor written.

mod provider;
mod repository;

pub use provider::{CommitFormat, FAMILY};
