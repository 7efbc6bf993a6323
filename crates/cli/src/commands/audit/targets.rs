//! Where keys are looked for: files, devices, servers.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use itertools::Itertools;
use keymark_audit::device::weaknesses;
use keymark_audit::{Location, NotRead, Read};
use keymark_stacks::tls::{Address, Remote};
use keymark_stores::device::{PublicDer, Wish};
use keymark_stores::places::private_dir::PrivateDir;
use keymark_stores::places::program;
use keymark_stores::registry;

use crate::args::AuditArguments;
use crate::exit::Failure;
use crate::{load, output, user};

/// Where GnuPG's keyboxd has its keys, below GnuPG's home.
const KEYBOXD: &str = "public-keys.d/pubring.db";

/// Octets of a keyring, at most.
const KEYRING: usize = 1 << 29;

/// What all targets have; of devices, with what is known against them.
pub(super) fn read(arguments: &AuditArguments) -> Result<Read, Failure> {
    let mut read = Read::default();
    let targets = match arguments.targets.as_slice() {
        [] => of_user()?,
        named => named.to_vec(),
    };
    for target in &targets {
        match target.as_str() {
            "-" => stdin(&mut read)?,
            "card" => devices(&Wish::Inserted, &mut read)?,
            uri if uri.starts_with("pkcs11:") => {
                devices(&Wish::Named(vec![token_alone(uri)]), &mut read)?;
            }
            path if Path::new(path).exists() => read.path(Path::new(path)),
            other => match other.parse::<Address>() {
                Ok(address) => server(address, arguments, &mut read)?,
                Err(_) => {
                    return Err(Failure::usage(format!(
                        "'{other}' is neither a file or directory nor HOST:PORT, 'card' or a pkcs11: URI"
                    )));
                }
            },
        }
    }
    keyboxd(&mut read);
    Ok(read)
}

/// Reads databases of GnuPG's keyboxd by 'gpg --export', on a copy in a private directory.
fn keyboxd(read: &mut Read) {
    let (databases, others) = std::mem::take(&mut read.not_read)
        .into_iter()
        .partition(|item| item.place.within.ends_with(KEYBOXD));
    read.not_read = others;
    let databases: Vec<NotRead> = databases;
    for NotRead { place, .. } in databases {
        match exported(Path::new(&place.within)) {
            Ok(ring) if !ring.is_empty() => read.bytes(&place.within, &ring),
            Ok(_) => read.fail(
                &place,
                "gpg exports no key from keyboxd's database; GnuPG 2.3 or later is needed"
                    .to_owned(),
            ),
            Err(error) => read.fail(&place, format!("keyboxd's database: {}", error.message)),
        }
    }
}

fn exported(database: &Path) -> Result<Vec<u8>, Failure> {
    let gpg = program::locate(None, "gpg").ok_or("gpg is not installed")?;
    let place = PrivateDir::new()?;
    std::fs::copy(
        database,
        place.subdirectory("public-keys.d")?.join("pubring.db"),
    )?;
    std::fs::write(place.path().join("common.conf"), "use-keyboxd\n")?;
    let mut command = program::command(&gpg);
    command.args([
        "--no-options",
        "--batch",
        "--quiet",
        "--export",
        "--homedir",
    ]);
    // keyboxd goes on after gpg has ended, and ends with the step.
    let step = program::ProgramRun::start()?;
    let done = step.run(command.arg(place.path()), program::WORK, KEYRING)?;
    Ok(done.stdout)
}

/// What a user has, where nothing is named.
fn of_user() -> Result<Vec<String>, Failure> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let home = variable("HOME");
    let in_home = |name| Some(home.as_ref()?.join(name));
    let gnupg = variable("GNUPGHOME").or_else(|| in_home(".gnupg"));
    let in_gnupg = |name| Some(gnupg.as_ref()?.join(name));
    let keyrings = ["pubring.kbx", "pubring.gpg", KEYBOXD].map(in_gnupg);
    let usual = [in_home(".ssh")].into_iter().chain(keyrings);
    let here = usual.flatten().filter(|path| path.exists());
    let here: Vec<String> = here.map(|path| path.display().to_string()).collect();
    if here.is_empty() {
        let message = "no ~/.ssh or GnuPG keyring here. Name files to audit";
        return Err(Failure::nothing_usable(message));
    }
    output::note(&format!("looking at {}", here.join(", ")));
    Ok(here)
}

fn stdin(read: &mut Read) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    let most = KEYRING as u64;
    let all = std::io::stdin()
        .lock()
        .take(most + 1)
        .read_to_end(&mut bytes);
    all.map_err(|error| format!("reading stdin: {error}"))?;
    if bytes.len() as u64 > most {
        read.fail(
            &Location::of("stdin"),
            format!("it has more than {most} bytes"),
        );
        return Ok(());
    }
    read.bytes("stdin", &bytes);
    Ok(())
}

/// A token's public keys are seen without a PIN, but a key that is named is looked for with it.
fn token_alone(uri: &str) -> String {
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let of_key = ["object=", "id=", "type="];
    let is_kept = |part: &&str| !of_key.iter().any(|name| part.starts_with(name));
    let path = path.trim_start_matches("pkcs11:").split(';');
    let path = path.filter(is_kept).join(";");
    let query = query.split('&');
    let query = query.filter(|part| part.starts_with("module-")).join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    format!("pkcs11:{path}{mark}{query}")
}

/// Nothing is written to a device here, and no PIN is sent.
fn devices(wish: &Wish, read: &mut Read) -> Result<(), Failure> {
    let all = registry::look(wish, &user::of_pinentry()).map_err(Failure::nothing_usable)?;
    for reader in &all.occupied {
        output::warning(&format!(
            "the card in '{reader}' is in use by another program; 'gpgconf --kill scdaemon' makes GnuPG let go of it"
        ));
    }
    if all.devices.is_empty() {
        let reason = all.unseen.map_or_else(
            || "no token was found; 'keymark devices' shows what is here".to_owned(),
            |error| error.to_string(),
        );
        return Err(Failure::nothing_usable(reason));
    }
    for device in &all.devices {
        let (identity, before) = (device.identity(), read.keys.len());
        let place = Location::of(format!("{} ({})", identity.device, identity.product));
        for part in device.public_parts()? {
            match &part.der {
                PublicDer::Key(der) => read.public_key(&place, &part.name, der),
                PublicDer::Certificate(der) => read.certificate(&place, der),
                PublicDer::Dsa { p, y } => read.dsa(&place, &part.name, p, y),
            }
        }
        if read.keys.len() == before {
            output::note(&format!(
                "{} shows no public key without a PIN",
                identity.device
            ));
        }
        for key in &mut read.keys[before..] {
            key.findings = weaknesses(identity, &key.key);
        }
    }
    Ok(())
}

/// The owner of a server has to allow its audit, as with a load.
fn server(address: Address, arguments: &AuditArguments, read: &mut Read) -> Result<(), Failure> {
    let remote = Remote {
        address,
        server_name: None,
        path: String::new(),
        authority: None,
        weak: Default::default(),
    };
    let addresses = load::own(&remote.address, arguments.i_own_this_server)?;
    let chain = remote.certificates(&addresses);
    let chain = chain.map_err(Failure::nothing_usable)?;
    let place = Location::of(remote.address.to_string());
    chain.iter().for_each(|der| read.certificate(&place, der));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_uri_the_token_is_kept_and_the_key_is_not() {
        assert_eq!(
            token_alone("pkcs11:token=web;object=key;id=%01;type=private?pin-source=file:/x"),
            "pkcs11:token=web"
        );
        assert_eq!(
            token_alone("pkcs11:object=key?pin-value=1&module-name=softhsm2"),
            "pkcs11:?module-name=softhsm2"
        );
        assert_eq!(token_alone("pkcs11:serial=1"), "pkcs11:serial=1");
    }
}
