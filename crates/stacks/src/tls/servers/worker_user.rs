//! User of a server's workers: where root starts it, a user without rights, and the directories that this one may enter.
//!
//! libp11 and pkcs11-provider load the module again in each worker, so a temporary token lets that group use its
//! files, except its PIN.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use keymark_bench::{During as _, Error};
use keymark_stores::places::private_dir;
use nix::unistd::{Gid, Group, Uid, User, geteuid};

/// Debian's user for web servers, others' ones, and the one that owns nothing.
const USERS: [&str; 4] = ["www-data", "apache", "http", "nobody"];
/// Of a private directory, and not for others: PINs, and what the directory is known by.
const KEPT: [&str; 2] = [private_dir::PIN_FILE, private_dir::TAG];

/// A user without rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkerUser {
    pub(crate) name: String,
    pub(crate) group: String,
    group_number: u32,
}

impl WorkerUser {
    /// Returns the user of workers where root starts the server; none otherwise, since workers then run as the same
    /// user.
    ///
    /// # Errors
    /// When the system has no such user.
    pub(crate) fn needed() -> Result<Option<Self>, Error> {
        if geteuid() != Uid::from_raw(0) {
            return Ok(None);
        }
        let mut users = USERS.iter().filter_map(|name| User::from_name(name).ok()?);
        let user = users.next();
        let group = |user: &User| Group::from_gid(Gid::from_raw(user.gid.as_raw())).ok()?;
        let found = user.and_then(|user| group(&user).map(|group| (user, group)));
        let (user, group) = found.ok_or_else(|| {
            Error::call(
                "looking for a user without rights",
                format!("no user {} exists", USERS.join(", ")),
                "root's servers run their workers as one of them: adduser --system www-data",
            )
        })?;
        Ok(Some(Self {
            name: user.name,
            group: group.name,
            group_number: group.gid.as_raw(),
        }))
    }

    /// Lets it pass through a private directory, which stays root's.
    pub(crate) fn let_pass(&self, directory: &Path) -> Result<(), Error> {
        reachable(directory)?;
        private_dir::let_pass(directory, self.group_number)
    }

    /// Lets it read a file, or what is in a directory.
    pub(crate) fn let_read(&self, path: &Path) -> Result<(), Error> {
        self.give(path, 0o040, 0o050)
    }

    /// Lets it use the files of a token that keymark has made: programs load the module again in each worker, and
    /// SoftHSM2 writes at each login. The PIN stays root's.
    pub(crate) fn let_use_token(&self, place: &Path) -> Result<(), Error> {
        self.let_pass(place)?;
        for entry in entries(place)? {
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let program = [".so", ".toml", ".conf"]
                .iter()
                .any(|end| name.ends_with(end));
            if KEPT.contains(&name.as_ref()) {
                continue;
            }
            if program {
                self.let_read(&path)?;
            } else {
                self.let_write_all(&path)?;
            }
        }
        Ok(())
    }

    /// Lets it write a file that is there.
    pub(crate) fn let_write(&self, file: &Path) -> Result<(), Error> {
        self.give(file, 0o060, 0o070)
    }

    fn let_write_all(&self, path: &Path) -> Result<(), Error> {
        let kind = fs::symlink_metadata(path).during(letting_into(path))?;
        // A link leads elsewhere.
        if kind.is_symlink() {
            return Ok(());
        }
        if kind.is_dir() {
            for entry in entries(path)? {
                self.let_write_all(&entry.path())?;
            }
        }
        self.give(path, 0o060, 0o070)
    }

    fn give(&self, path: &Path, file: u32, directory: u32) -> Result<(), Error> {
        let give = || {
            let meta = fs::symlink_metadata(path)?;
            let more = if meta.is_dir() { directory } else { file };
            chown(path, None, Some(self.group_number))?;
            let mode = (meta.permissions().mode() & 0o700) | more;
            fs::set_permissions(path, fs::Permissions::from_mode(mode))
        };
        give().during(letting_into(path))
    }
}

fn entries(directory: &Path) -> Result<Vec<fs::DirEntry>, Error> {
    let entries = fs::read_dir(directory).during(letting_into(directory))?;
    Ok(entries.flatten().collect())
}

fn letting_into(path: &Path) -> String {
    format!("letting the server's workers into {}", path.display())
}

/// Checks whether a user without rights can reach the directory.
fn reachable(directory: &Path) -> Result<(), Error> {
    for parent in directory.ancestors().skip(1) {
        let meta = fs::metadata(parent).during(letting_into(parent))?;
        if meta.permissions().mode() & 0o001 == 0 {
            return Err(Error::call(
                letting_into(directory),
                format!("other users cannot pass through {}", parent.display()),
                "set TMPDIR to a directory that others may pass through, such as /tmp",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn a_place_behind_a_closed_directory_is_refused() {
        let closed = tempfile::tempdir().unwrap();
        fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let error = reachable(&closed.path().join("x")).unwrap_err().to_string();
        assert_says(&error, ["cannot pass through", "TMPDIR"]);
        reachable(closed.path()).unwrap();
    }
}
