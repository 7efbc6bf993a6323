//! `keymark strength`

use jiff::Zoned;
use keymark_advice::policy::Policy;
use keymark_advice::strength::{self, StrengthQuestion};
use keymark_report::Beside;

use crate::args::StrengthArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

pub(super) fn run(arguments: &StrengthArguments) -> Outcome {
    let policies = Policy::chosen(&arguments.policy).map_err(Failure::usage)?;
    let date = arguments.until.unwrap_or_else(|| Zoned::now().date());
    let mut keys = match (arguments.keys.as_slice(), arguments.level) {
        ([], Some(level)) => strength::keys_of_level(level),
        ([], None) => strength::usual_keys(),
        (named, _) => named.to_vec(),
    };
    if arguments.keys.is_empty() && !arguments.policy.is_empty() {
        keys.retain(|key| strength::is_permitted(*key, &policies, date));
    }
    if keys.is_empty() {
        return Err(Failure::nothing_usable(format!(
            "no common key is permitted on {date} by all of these policies; name keys to see what they say"
        )));
    }
    let question = StrengthQuestion {
        keys,
        level: arguments.level,
        date,
        policies,
    };
    if arguments.form.is_json() {
        question.rows().iter().for_each(output::print_json);
    } else if arguments.long {
        output::document(&question.document());
    } else {
        output::document(&question.document().brief(Beside::Nothing));
    }
    Ok(Exit::Fine)
}
