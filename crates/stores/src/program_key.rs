//! What a program that is not keymark is told of a token's key.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::pkcs11_uri::{ObjectKind, ObjectPart, Pkcs11Uri, TokenPart};
use crate::user::Pin;

/// All of it.
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
#[derive(Serialize, Deserialize)]
pub struct ProgramKey {
    pub(crate) module: PathBuf,
    pub(crate) token: TokenPart,
    pub(crate) object: ObjectPart,
    /// What the token has accepted; none where it wants none.
    pub pin: Option<Pin>,
    /// The whole environment of the program, as the process has it that starts the program.
    #[serde(skip)]
    pub environment: Vec<(OsString, OsString)>,
    pub(crate) own_place: Option<PathBuf>,
}

impl ProgramKey {
    /// The module's file.
    pub fn module(&self) -> &Path {
        &self.module
    }

    /// The directory of a token that keymark has made: programs that run as another user have to be let into it.
    pub fn own_place(&self) -> Option<&Path> {
        self.own_place.as_deref()
    }

    /// The token's URI: its PIN is one, for however many keys.
    pub fn token_uri(&self) -> String {
        let uri = Pkcs11Uri {
            token: self.token.clone(),
            module_path: Some(self.module.clone()),
            ..Pkcs11Uri::default()
        };
        uri.to_string()
    }

    /// The private key's URI (RFC 7512). Whoever wants the PIN finds it in that file: the PIN itself is in no URI, since
    /// URIs are arguments.
    pub fn uri(&self, pin_file: Option<&Path>) -> String {
        let uri = Pkcs11Uri {
            token: self.token.clone(),
            object: ObjectPart {
                kind: Some(ObjectKind::Private),
                ..self.object.clone()
            },
            pin_file: pin_file.map(Path::to_owned),
            ..Pkcs11Uri::default()
        };
        uri.to_string()
    }
}
