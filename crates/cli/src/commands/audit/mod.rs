//! `keymark audit`

mod screen;
mod targets;

use jiff::Zoned;
use keymark_advice::policy::Policy;
use keymark_audit::sarif;
use keymark_audit::{Audit, AuditQuestion, FoundKey, Lists, Places};
use keymark_report::formats::ci::{Test, suite};
use keymark_report::visible::visible;
use serde_json::json;

use crate::args::{AuditArguments, AuditFormat};
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

pub(super) fn run(arguments: &AuditArguments) -> Outcome {
    let question = AuditQuestion {
        policies: Policy::chosen(&arguments.policy).map_err(Failure::usage)?,
        today: Zoned::now().date(),
        until: arguments.until,
    };
    let found = targets::read(arguments)?;
    let mut lists = Lists::at(Places::usual());
    let audit = Audit::of(found, &question, &mut lists);
    match arguments.format {
        AuditFormat::Text => screen::print(&audit, &question, arguments.long),
        AuditFormat::Json => {
            audit.keys.iter().for_each(output::print_json);
            let (keys, weak) = audit.counts();
            let (not_read, without_key) = (&audit.not_read, &audit.without_key);
            output::print_json(&json!({
                "keys": keys, "weak": weak, "not_read": not_read, "without_key": without_key,
            }));
        }
        AuditFormat::Sarif => {
            let home = env!("CARGO_PKG_REPOSITORY");
            output::print_json(&sarif::log(&audit, env!("KEYMARK_VERSION"), home));
        }
        AuditFormat::Junit => output::print(&junit(&audit)?),
    }
    let exit = Exit::of(audit.weak().next().is_some(), !audit.not_read.is_empty());
    if exit == Exit::Fine && audit.keys.is_empty() {
        return Err(Failure::nothing_usable(
            "no public key was found; keymark reads OpenPGP, X.509, SSH and PKCS#8",
        ));
    }
    Ok(exit)
}

fn junit(audit: &Audit) -> Result<String, Failure> {
    let test = |key: &FoundKey| {
        let wrong = key.findings.iter().filter(|finding| finding.is_weakness());
        let wrong: Vec<String> = wrong.map(|finding| sarif::in_words(key, finding)).collect();
        Test {
            class: format!("keymark.audit.{}", key.key.name()),
            name: format!("{} {}", key.place, visible(&key.owner))
                .trim_end()
                .to_owned(),
            failure: (!wrong.is_empty()).then(|| wrong.join(" ")),
        }
    };
    let not_read = audit.not_read.iter().map(|item| Test {
        class: "keymark.audit.not-read".to_owned(),
        name: item.place.to_string(),
        failure: Some(format!("not read: {}", item.reason)),
    });
    let without_key = audit.without_key.iter().map(|item| Test {
        class: "keymark.audit.without-key".to_owned(),
        name: item.to_string(),
        failure: None,
    });
    let tests = audit
        .keys
        .iter()
        .map(test)
        .chain(not_read)
        .chain(without_key);
    let tests: Vec<Test> = tests.collect();
    Ok(suite("audit", &tests)?)
}
