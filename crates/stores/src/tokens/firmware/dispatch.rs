//! The backends of trussed for the application's requests, as in the Nitrokey 3.

use std::panic::{AssertUnwindSafe, catch_unwind};

use trussed::backend::{Backend, BackendId};
use trussed::platform::Platform;
use trussed::serde_extensions::ExtensionDispatch;
use trussed::service::ServiceResources;
use trussed::types::CoreContext;
use trussed_auth::AuthExtension;
use trussed_auth_backend::{AuthBackend, FilesystemLayout};
use trussed_chunked::ChunkedExtension;
use trussed_core::Error;
use trussed_core::api::{Reply, Request};
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

/// The backends in addition to trussed's own.
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
    rsa: CheckedRsa,
    #[extensions("Chunked", "WrapKeyToFile")]
    staging: StagingBackend,
}

impl Default for Dispatch {
    fn default() -> Self {
        Self {
            auth: AuthBackend::new(Location::Internal, FilesystemLayout::V1),
            rsa: CheckedRsa(SoftwareRsa),
            staging: StagingBackend::new(),
        }
    }
}

/// RSA whose arithmetic may not end the card: `trussed-rsa-alloc` 0.5 panics at an imported key with a prime of 0.
#[derive(Debug)]
pub(super) struct CheckedRsa(SoftwareRsa);

impl Backend for CheckedRsa {
    type Context = ();

    fn request<P: Platform>(
        &mut self,
        core: &mut CoreContext,
        context: &mut (),
        request: &Request,
        resources: &mut ServiceResources<P>,
    ) -> Result<Reply, Error> {
        // A refused key is stored nowhere, so that nothing half done is left.
        let done = catch_unwind(AssertUnwindSafe(|| {
            self.0.request(core, context, request, resources)
        }));
        done.unwrap_or(Err(Error::InvalidSerializedKey))
    }
}

#[derive(Debug, Clone, Copy, ExtensionId)]
pub(super) enum Extension {
    Auth = 0,
    Chunked = 1,
    WrapKeyToFile = 2,
}
