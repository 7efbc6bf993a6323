//! What gpg tells machines: status lines (doc/DETAILS, "Format of the --status-fd output") and
//! colons listings ("Format of the --list-keys output").

/// A `[GNUPG:]` line: its keyword and arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status<'a> {
    /// First word.
    pub keyword: &'a str,
    /// The rest.
    pub arguments: Vec<&'a str>,
}

/// The status lines of a text that may hold other lines.
pub fn status_lines(text: &str) -> impl Iterator<Item = Status<'_>> {
    text.lines().filter_map(|line| {
        let mut words = line.strip_prefix("[GNUPG:] ")?.split(' ');
        Some(Status {
            keyword: words.next()?,
            arguments: words.collect(),
        })
    })
}

/// Whether a status line with that keyword is there.
#[must_use]
pub fn has(text: &str, keyword: &str) -> bool {
    status_lines(text).any(|status| status.keyword == keyword)
}

/// What went wrong, for a message: error lines of the status, else the last words of the program.
#[must_use]
pub fn complaint(text: &str) -> String {
    let errors: Vec<String> = status_lines(text)
        .filter(|status| {
            matches!(
                status.keyword,
                "ERROR" | "FAILURE" | "NO_SECKEY" | "INV_RECP" | "KEY_NOT_CREATED" | "NODATA"
            )
        })
        .map(|status| {
            format!("{} {}", status.keyword, status.arguments.join(" "))
                .trim()
                .to_owned()
        })
        .collect();
    let said: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("[GNUPG:]"))
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    let last = said.last().copied().unwrap_or("no reason given");
    if errors.is_empty() {
        last.to_owned()
    } else {
        format!("{} ({last})", errors.join(", "))
    }
}

/// One key or subkey of a colons listing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListedKey {
    /// OpenPGP number of the algorithm.
    pub algorithm: u8,
    /// Capabilities of this very key, lower case letters.
    pub capabilities: String,
    pub fingerprint: String,
    pub keygrip: String,
}

/// Secret keys and subkeys, in order.
#[must_use]
pub fn listed_keys(colons: &str) -> Vec<ListedKey> {
    let mut keys: Vec<ListedKey> = Vec::new();
    for line in colons.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let field = |index: usize| fields.get(index).copied().unwrap_or_default();
        match (field(0), keys.last_mut()) {
            ("sec" | "ssb", _) => keys.push(ListedKey {
                algorithm: field(3).parse().unwrap_or(0),
                capabilities: field(11).chars().filter(char::is_ascii_lowercase).collect(),
                ..ListedKey::default()
            }),
            ("fpr", Some(key)) if key.fingerprint.is_empty() => {
                field(9).clone_into(&mut key.fingerprint);
            }
            ("grp", Some(key)) if key.keygrip.is_empty() => field(9).clone_into(&mut key.keygrip),
            _ => {}
        }
    }
    keys
}

/// The value of a `cfg:name:value` line.
#[must_use]
pub fn configured<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    config.lines().find_map(|line| {
        line.strip_prefix("cfg:")?
            .strip_prefix(name)?
            .strip_prefix(':')
    })
}

#[cfg(test)]
mod tests {
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
        assert_eq!(
            (keys[0].algorithm, keys[0].capabilities.as_str()),
            (22, "sca")
        );
        assert_eq!(
            (keys[1].algorithm, keys[1].capabilities.as_str()),
            (18, "e")
        );
        assert_eq!(keys[1].keygrip, "E3E4F702301546453AE4858F75DEE2EB53EA28FE");
    }

    #[test]
    fn status_lines_stand_among_others() {
        let text = "gpg: words\n[GNUPG:] SESSION_KEY 9:00FF\n[GNUPG:] DECRYPTION_OKAY\n";
        assert!(has(text, "DECRYPTION_OKAY") && !has(text, "GOODSIG"));
        assert_eq!(status_lines(text).next().unwrap().arguments, ["9:00FF"]);
        assert_eq!(
            complaint("[GNUPG:] ERROR key_generate 1\ngpg: agent_genkey failed\n"),
            "ERROR key_generate 1 (gpg: agent_genkey failed)"
        );
        assert_eq!(complaint(""), "no reason given");
    }

    #[test]
    fn configuration_is_found_by_its_whole_name() {
        let config = "cfg:pubkeyname:RSA\ncfg:pubkey:1;16\ncfg:version:2.2.40\n";
        assert_eq!(configured(config, "pubkey"), Some("1;16"));
        assert_eq!(configured(config, "curve"), None);
    }
}
