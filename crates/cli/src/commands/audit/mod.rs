//! `keymark audit`

mod screen;
mod targets;

use jiff::Zoned;
use keymark_advice::audit::sarif;
use keymark_advice::audit::{Audit, FoundKey, Lists, Places, Question};
use keymark_advice::policy::Policy;
use keymark_report::formats::ci::{Test, suite};

use super::Outcome;
use crate::args::AuditArguments;
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

pub(super) fn run(arguments: &AuditArguments) -> Outcome {
    let question = Question {
        policies: Policy::chosen(&arguments.policy).map_err(Failure::usage)?,
        today: Zoned::now().date(),
        until: arguments.until,
    };
    let found = targets::read(arguments)?;
    for failure in &found.failures {
        output::warning(&format!("not read: {failure}"));
    }
    let mut lists = Lists::at(Places::usual());
    let audit = Audit::of(found.keys, &question, &mut lists);
    if arguments.json {
        audit.keys.iter().for_each(print_json);
    } else if arguments.sarif {
        let home = env!("CARGO_PKG_REPOSITORY");
        print_json(&sarif::log(&audit, env!("KEYMARK_VERSION"), home));
    } else if arguments.junit {
        output::print(&junit(&audit)?);
    } else if !audit.keys.is_empty() {
        screen::print(&audit, &question, arguments.long);
    }
    if audit.keys.is_empty() {
        let read = match found.others {
            0 => String::new(),
            1 => "; one file has none".to_owned(),
            files => format!("; {files} files have none"),
        };
        return Err(Failure::nothing_usable(format!(
            "no public key was found{read}; keymark reads OpenPGP, X.509, SSH and PKCS#8"
        )));
    }
    let is_fine = audit.weak().next().is_none() && found.failures.is_empty();
    Ok(if is_fine { Exit::Fine } else { Exit::Failed })
}

fn junit(audit: &Audit) -> Result<String, Failure> {
    let test = |key: &FoundKey| {
        let wrong = key.findings.iter().filter(|finding| finding.is_weakness());
        let wrong: Vec<String> = wrong.map(|finding| sarif::in_words(key, finding)).collect();
        Test {
            class: format!("keymark.audit.{}", key.key.name()),
            name: format!("{} {}", key.place, key.owner).trim_end().to_owned(),
            failure: (!wrong.is_empty()).then(|| wrong.join(" ")),
        }
    };
    let tests: Vec<Test> = audit.keys.iter().map(test).collect();
    Ok(suite("audit", &tests)?)
}
