//! OpenSSL's configuration (config(5)), which `OPENSSL_CONF` names: what loads the engine or the provider.

use std::path::Path;

use crate::servers::configuration::{Directive, plain};
use crate::servers::error::Impossible;
use crate::servers::identity::TokenWay;

/// What reaches a token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach<'p> {
    pub(crate) way: TokenWay,
    /// The engine's or provider's file.
    pub(crate) loadable: &'p Path,
    /// The PKCS#11 module.
    pub(crate) module: &'p Path,
    pub(crate) pin_file: Option<&'p Path>,
}

/// The lines.
///
/// # Errors
/// When a path cannot stand there.
pub(crate) fn lines(reach: Reach<'_>) -> Result<Vec<Directive>, Impossible> {
    let loadable = plain("the engine's or provider's file", reach.loadable)?;
    let module = plain("the PKCS#11 module's file", reach.module)?;
    match reach.way {
        TokenWay::Engine => Ok(engine(loadable, module)),
        TokenWay::Provider => {
            let pin_file = reach.pin_file.map(|file| plain("the PIN's file", file));
            Ok(provider(loadable, module, pin_file.transpose()?))
        }
    }
}

fn engine(engine: &str, module: &str) -> Vec<Directive> {
    let mut lines: Vec<Directive> = [
        "openssl_conf = init",
        "[init]",
        "engines = engines",
        "[engines]",
        "pkcs11 = pkcs11",
        "[pkcs11]",
        "engine_id = pkcs11",
    ]
    .map(Directive::new)
    .into();
    lines.push(Directive::new(format!("dynamic_path = {engine}")));
    lines.push(Directive::new(format!("MODULE_PATH = {module}")));
    lines
        .push(Directive::new("init = 1").because(
            "Without it nginx says 'ENGINE_load_private_key() failed … not initialised'.",
        ));
    lines
}

fn provider(provider: &str, module: &str, pin_file: Option<&str>) -> Vec<Directive> {
    let mut lines: Vec<Directive> = ["openssl_conf = init", "[init]", "providers = providers"]
        .map(Directive::new)
        .into();
    lines.push(Directive::new("[providers]"));
    lines.push(Directive::new("default = of_default").because(
        "Once a provider is named here, OpenSSL loads no other by itself: the default one must be named, too.",
    ));
    lines.extend(
        [
            "pkcs11 = pkcs11",
            "[of_default]",
            "activate = 1",
            "[pkcs11]",
        ]
        .map(Directive::new),
    );
    lines.push(Directive::new(format!("module = {provider}")));
    lines.push(Directive::new(format!("pkcs11-module-path = {module}")));
    lines.push(
        Directive::new("pkcs11-module-quirks = no-deinit").because(
            "Otherwise the module is finalized after OpenSSL has been cleaned up, and SoftHSM2 crashes.",
        ),
    );
    if let Some(file) = pin_file {
        lines.push(
            Directive::new(format!("pkcs11-module-token-pin = file:{file}")).because(
                "Read once, by root. With pin-source in the key's URI each worker would read the file itself, as \
                 a user without permission, and fail its first handshake.",
            ),
        );
    }
    lines.push(Directive::new("activate = 1"));
    lines
}
