//! Status lines of gpg (doc/DETAILS, "Format of the --status-fd output").

use keymark_bench::outside::visible::shortened;
use keymark_bench::{Error, ReturnCode};

/// The `[GNUPG:]` lines of a text that may hold other lines: the keyword of each, and the rest.
pub fn status_lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let status = line.strip_prefix("[GNUPG:] ")?;
        Some(status.split_once(' ').unwrap_or((status, "")))
    })
}

/// Returns true if a status line with that keyword is there.
pub fn has(text: &str, keyword: &str) -> bool {
    status_lines(text).any(|(known, _)| known == keyword)
}

/// Characters of a complaint.
const LONGEST: usize = 400;

/// Returns the reason of a failure for a message: error lines of the status, else the last words of the program.
pub fn complaint(text: &str) -> String {
    const ERRORS: [&str; 6] = [
        "ERROR",
        "FAILURE",
        "NO_SECKEY",
        "INV_RECP",
        "KEY_NOT_CREATED",
        "NODATA",
    ];
    let errors: Vec<String> = status_lines(text)
        .filter(|(keyword, _)| ERRORS.contains(keyword))
        .map(|(keyword, rest)| format!("{keyword} {rest}").trim().to_owned())
        .collect();
    let said: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("[GNUPG:]"))
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    let last = said.last().copied().unwrap_or("no reason given");
    let whole = if errors.is_empty() {
        last.to_owned()
    } else {
        format!("{} ({last})", errors.join(", "))
    };
    shortened(&whole, LONGEST)
}

/// Returns the error of a call for which the agent or gpg could not use a key, by the error codes in its words and advice
/// about the key: memory that ran out has nothing to do with the key.
pub fn failed(call: &str, reason: String, said: &str, of_key: String) -> Error {
    const MEMORY: ReturnCode = ReturnCode::AGENT_MEMORY;
    let mut codes = said
        .split_whitespace()
        .filter_map(|word| word.parse::<u32>().ok());
    if codes.any(|code| code & 0xFFFF == MEMORY.number) || said.contains("Cannot allocate memory") {
        let advice = "gpg-agent's secure memory is full: use fewer workers, or set auto-expand-secmem in gpg-agent.conf";
        Error::refused(call, MEMORY, reason, advice)
    } else {
        Error::call(call, reason, of_key)
    }
}

/// The value of a `cfg:name:value` line.
pub fn configured<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    config.lines().find_map(|line| {
        line.strip_prefix("cfg:")?
            .strip_prefix(name)?
            .strip_prefix(':')
    })
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn memory_that_ran_out_is_not_blamed_on_the_passphrase() {
        let error = |said| {
            failed(
                "PKSIGN",
                "refused".to_owned(),
                said,
                "the passphrase?".to_owned(),
            )
        };
        for said in [
            "16810070 Cannot allocate memory <gcrypt>",
            "[GNUPG:] ERROR pkdecrypt_failed 67141718",
            "error: gpg failed to sign the data:\ngpg: signing failed: Cannot allocate memory",
        ] {
            let error = error(said);
            assert_eq!(error.code(), Some(&ReturnCode::AGENT_MEMORY), "{said}");
            assert_says(&error, ["auto-expand-secmem"]);
        }
        let error = error("67108875 Bad passphrase <GPG Agent>");
        assert_eq!(error.code(), None);
        assert_says(&error, ["the passphrase?"]);
    }

    #[test]
    fn configuration_is_found_by_its_whole_name() {
        let config = "cfg:pubkeyname:RSA\ncfg:pubkey:1;16\ncfg:version:2.2.40\n";
        assert_eq!(configured(config, "pubkey"), Some("1;16"));
        assert_eq!(configured(config, "curve"), None);
    }
}
