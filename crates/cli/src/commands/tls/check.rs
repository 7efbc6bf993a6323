//! `keymark tls check`

use keymark_stacks::tls::survey::{Advice, ClientKind, ShownKey, Survey};

use crate::args::TlsCheckArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

pub(super) fn run(arguments: &TlsCheckArguments) -> Outcome {
    let survey = Survey::of(&arguments.address, arguments.server_name.as_deref());
    let survey = survey.map_err(Failure::nothing_usable)?;
    let advice = survey.advice();
    output::paragraph(&verdict(&survey, advice));
    output::line("");
    output::heading("which certificate clients get");
    for (client, result) in &survey.clients {
        let shown = match result {
            Ok(shaken) => {
                let version = shaken.version.map_or("-", |version| version.word());
                let exchange = shaken.key_exchange.map_or("-", |exchange| exchange.word());
                let key = survey.key(*client).map(|key| key.to_string());
                format!("{:<10}  {version}  {exchange}", key.unwrap_or_default())
            }
            Err(failure) => format!("refused ({failure})"),
        };
        output::line(&format!("{:<30}  {shown}", client.to_string()));
    }
    output::line("");
    output::heading("key exchanges, with the certificate in each version");
    output::line(&format!("{:<30}  tls1.2      tls1.3", ""));
    for one in &survey.exchanges {
        let [tls12, tls13] =
            [one.tls12, one.tls13].map(|key| key.map_or("-".to_owned(), |key| key.to_string()));
        let name = one.key_exchange.word();
        output::line(&format!("{name:<30}  {tls12:<10}  {tls13}"));
    }
    Ok(match advice {
        Advice::Nothing | Advice::ModernOnly => Exit::Fine,
        Advice::AddEcdsa | Advice::AddRsa | Advice::PreferEcdsa => Exit::Failed,
    })
}

fn verdict(survey: &Survey, advice: Advice) -> String {
    let named = |key: Option<ShownKey>| key.map_or("none".to_owned(), |key| key.to_string());
    let [old, middle, modern] =
        [ClientKind::Old, ClientKind::Middle, ClientKind::Modern].map(|client| survey.key(client));
    let (old, newest) = (named(old), named(modern.or(middle)));
    match advice {
        Advice::Nothing => format!(
            "Nothing to do: the server has two certificates. Old clients get {old}, modern clients {newest}."
        ),
        Advice::AddEcdsa => format!(
            "Add an ECDSA certificate, such as nistp256. Modern clients get {newest} now, and old clients would keep it. \
             'keymark tls suite dual' measures what two certificates save."
        ),
        Advice::AddRsa => {
            "Add an RSA certificate if you have old clients: they are refused.".to_owned()
        }
        Advice::PreferEcdsa => {
            let (middle, modern) = (named(middle), named(modern));
            format!(
                "Put ECDSA before RSA in the server's cipher string: it has both certificates, but clients that support both \
                 get {middle} with TLS 1.2 and {modern} with TLS 1.3."
            )
        }
        Advice::ModernOnly => format!(
            "Nothing to add: the server accepts TLS 1.3 only. Clients get {newest}, and old clients cannot connect with any certificate."
        ),
    }
}
