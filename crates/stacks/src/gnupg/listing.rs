//! A keyring as gpg lists it for machines (doc/DETAILS, "Format of the --list-keys output"), and which of
//! its keys gpg would use.

use keymark_bench::{Error, Operation};

/// Key or subkey of a colons listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedKey {
    /// True for a primary key.
    pub is_primary: bool,
    /// Capabilities of this very key, lower case letters; those of the whole OpenPGP key in upper case.
    pub capabilities: String,
    pub fingerprint: String,
    pub keygrip: String,
    /// Creation time in seconds since 1970.
    pub created: u64,
    /// Why gpg uses it for nothing, if it does: `has expired`.
    pub flaw: Option<&'static str>,
}

/// Flaw of a primary key that its subkeys do not have.
const OFFLINE: &str = "has no secret part here";

impl ListedKey {
    fn of(field: &dyn Fn(usize) -> String) -> Self {
        let capabilities = field(11);
        let validity = match field(1).as_str() {
            "r" => Some("is revoked"),
            "e" => Some("has expired"),
            // Its signatures do not hold.
            "i" => Some("is not valid"),
            _ => None,
        };
        let disabled = capabilities.contains('D').then_some("is disabled");
        let offline = (field(14) == "#").then_some(OFFLINE);
        Self {
            is_primary: field(0) == "sec",
            capabilities,
            fingerprint: String::new(),
            keygrip: String::new(),
            created: field(5).parse().unwrap_or(0),
            flaw: validity.or(disabled).or(offline),
        }
    }

    /// Returns the argument that selects exactly this key (gpg(1), "By fingerprint").
    pub fn exactly(&self) -> String {
        format!("{}!", self.fingerprint)
    }

    /// Checks that gpg uses the key for the operation.
    pub fn check(&self, operation: Operation) -> Result<(), Error> {
        let reason = match self.flaw {
            Some(flaw) => flaw,
            None if self.can(operation) => return Ok(()),
            None => "is not meant for this use",
        };
        Err(Error::call(
            "gpg --list-secret-keys",
            format!(
                "the key {}, which could {operation}, {reason}",
                self.fingerprint
            ),
            "gpg --edit-key changes that, or measure with --stack raw",
        ))
    }

    fn can(&self, operation: Operation) -> bool {
        let letter = if operation.signs() { 's' } else { 'e' };
        self.capabilities.contains(letter)
    }
}

/// Secret keys and subkeys, in order. What is wrong with a primary key is so with its subkeys.
pub fn listed_keys(colons: &str) -> Vec<ListedKey> {
    let mut keys: Vec<ListedKey> = Vec::new();
    let mut inherited = None;
    for line in colons.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let field = |index: usize| fields.get(index).copied().unwrap_or_default().to_owned();
        match (field(0).as_str(), keys.last_mut()) {
            ("sec", _) => {
                let key = ListedKey::of(&field);
                // Its subkeys may be here.
                inherited = key.flaw.filter(|flaw| *flaw != OFFLINE);
                keys.push(key);
            }
            ("ssb", _) => {
                let key = ListedKey::of(&field);
                let flaw = key.flaw.or(inherited);
                keys.push(ListedKey { flaw, ..key });
            }
            ("fpr", Some(key)) if key.fingerprint.is_empty() => key.fingerprint = field(9),
            ("grp", Some(key)) if key.keygrip.is_empty() => key.keygrip = field(9),
            _ => {}
        }
    }
    keys
}

/// The key that gpg would use: of the first OpenPGP key that can, the newest subkey, else the primary key
/// (`finish_lookup` of its g10/getkey.c).
///
/// # Errors
/// When it would use none; with the flaw of one that could.
pub fn chosen<'k>(keys: &'k [ListedKey], operation: Operation) -> Result<&'k ListedKey, Error> {
    let usable = |key: &&ListedKey| key.check(operation).is_ok();
    let in_one = |keys: &'k [ListedKey]| {
        let (first, subkeys) = keys.split_first()?;
        let newest = subkeys.iter().filter(usable).max_by_key(|key| key.created);
        newest.or_else(|| usable(&first).then_some(first))
    };
    let mut of_one = keys.chunk_by(|_, next| !next.is_primary);
    if let Some(key) = of_one.find_map(in_one) {
        return Ok(key);
    }
    let mut could = keys.iter().filter(|key| key.can(operation));
    let flawed = could.next_back().and_then(|key| key.check(operation).err());
    let none = || format!("no key can {operation}");
    Err(flawed.unwrap_or_else(|| Error::call("gpg --list-secret-keys", none(), "")))
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn a_listing_of_gnupg_2_2_is_read() {
        let colons = "sec:u:255:22:8354547C14E3AE1C:1795233052:::u:::scaESCA:::+::ed25519:::0:\n\
            fpr:::::::::196EB824319B8F0F25F5E5678354547C14E3AE1C:\n\
            grp:::::::::BA9F154E4906259169216F571BF9CF98B14A05FD:\n\
            uid:u::::1795233052::AD69::k::::::::::0:\n\
            ssb:u:255:18:023B7CF1647B845B:1795233052::::::e:::+::cv25519::\n\
            fpr:::::::::6FB2766C216BF87F740C232A023B7CF1647B845B:\n\
            grp:::::::::E3E4F702301546453AE4858F75DEE2EB53EA28FE:\n";
        let keys = listed_keys(colons);
        assert_eq!(keys.len(), 2);
        assert!(keys[0].can(Operation::Sign) && !keys[0].can(Operation::Decrypt));
        assert!(keys[1].can(Operation::Decrypt) && !keys[1].can(Operation::Sign));
        assert_eq!(keys[1].keygrip, "E3E4F702301546453AE4858F75DEE2EB53EA28FE");
        assert!(keys[0].is_primary && !keys[1].is_primary);
        assert!(
            keys.iter()
                .all(|key| key.flaw.is_none() && key.created == 1_795_233_052)
        );
    }

    /// A listing with a validity, time, capabilities and place of the secret part a line.
    fn keyring(lines: &[[&str; 5]]) -> Vec<ListedKey> {
        let line = |[kind, validity, created, capabilities, token]: &[&str; 5]| {
            format!(
                "{kind}:{validity}:255:22:0:{created}::::::{capabilities}:::{token}:\n\
                 fpr:::::::::{kind}{created}:\n"
            )
        };
        listed_keys(&lines.iter().map(line).collect::<String>())
    }

    fn choice(lines: &[[&str; 5]]) -> Result<String, String> {
        let keys = keyring(lines);
        let chosen = chosen(&keys, Operation::Sign);
        chosen
            .map(|key| key.exactly())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn why_there_is_none_is_said() {
        let subkey = ["ssb", "u", "2", "s", "+"];
        let refused = |lines: &[[&str; 5]]| choice(lines).unwrap_err();
        let expired = refused(&[["sec", "e", "1", "c", "+"], subkey]);
        assert_says(&expired, ["ssb2, which could sign, has expired; gpg"]);
        let disabled = refused(&[["sec", "u", "1", "cD", "+"], subkey]);
        assert_says(&disabled, ["is disabled"]);
        let revoked = refused(&[["sec", "u", "1", "c", "+"], ["ssb", "r", "2", "s", "#"]]);
        assert_says(&revoked, ["is revoked"]);
        let offline = refused(&[["sec", "u", "1", "sc", "#"]]);
        assert_says(&offline, ["has no secret part here"]);
        assert!(refused(&[["sec", "u", "1", "c", "+"]]).contains("no key can sign"));
        assert!(refused(&[]).contains("no key can sign"));
    }
}
