//! The backends of trussed for the application's requests, as in the Nitrokey 3.

use trussed::backend::BackendId;
use trussed::serde_extensions::ExtensionDispatch;
use trussed_auth::AuthExtension;
use trussed_auth_backend::{AuthBackend, FilesystemLayout};
use trussed_chunked::ChunkedExtension;
use trussed_core::types::Location;
use trussed_derive::{ExtensionDispatch, ExtensionId};
use trussed_rsa_alloc::SoftwareRsa;
use trussed_staging::StagingBackend;
use trussed_wrap_key_to_file::WrapKeyToFileExtension;

pub(super) const BACKENDS: &[BackendId<Unit>] = &[
    BackendId::Custom(Unit::Rsa),
    BackendId::Custom(Unit::Staging),
    BackendId::Custom(Unit::Auth),
    BackendId::Core,
];

/// The backends beside trussed's own.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    Auth,
    Rsa,
    Staging,
}

pub(super) type Contexts = <Dispatch as ExtensionDispatch>::Context;

#[derive(Debug, ExtensionDispatch)]
#[dispatch(backend_id = "Unit", extension_id = "Extension")]
#[extensions(
    Auth = "AuthExtension",
    Chunked = "ChunkedExtension",
    WrapKeyToFile = "WrapKeyToFileExtension"
)]
pub(super) struct Dispatch {
    #[extensions("Auth")]
    auth: AuthBackend,
    rsa: SoftwareRsa,
    #[extensions("Chunked", "WrapKeyToFile")]
    staging: StagingBackend,
}

impl Default for Dispatch {
    fn default() -> Self {
        Self {
            auth: AuthBackend::new(Location::Internal, FilesystemLayout::V1),
            rsa: SoftwareRsa,
            staging: StagingBackend::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, ExtensionId)]
pub(super) enum Extension {
    Auth = 0,
    Chunked = 1,
    WrapKeyToFile = 2,
}
