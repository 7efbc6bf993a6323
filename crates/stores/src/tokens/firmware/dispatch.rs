//! Which backend of trussed answers which request of the application, as in the Nitrokey 3.

use trussed::backend::{Backend, BackendId};
use trussed::platform::Platform;
use trussed::serde_extensions::{ExtensionDispatch, ExtensionId, ExtensionImpl};
use trussed::service::ServiceResources;
use trussed::types::Context;
use trussed_auth::AuthExtension;
use trussed_auth_backend::{AuthBackend, AuthContext, FilesystemLayout};
use trussed_chunked::ChunkedExtension;
use trussed_core::Error;
use trussed_core::api::{Reply, Request, reply, request};
use trussed_core::types::Location;
use trussed_rsa_alloc::SoftwareRsa;
use trussed_staging::{StagingBackend, StagingContext};
use trussed_wrap_key_to_file::WrapKeyToFileExtension;

/// In the order in which they are asked.
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

#[derive(Default)]
pub(super) struct Contexts {
    auth: AuthContext,
    staging: StagingContext,
}

#[derive(Debug)]
pub(super) struct Dispatch {
    auth: AuthBackend,
    staging: StagingBackend,
}

impl Default for Dispatch {
    fn default() -> Self {
        Self {
            auth: AuthBackend::new(Location::Internal, FilesystemLayout::V1),
            staging: StagingBackend::new(),
        }
    }
}

/// What applications can ask for beyond trussed's core.
#[derive(Debug, Clone, Copy, strum::FromRepr)]
#[repr(u8)]
pub(super) enum Extension {
    Auth = 0,
    Chunked = 1,
    WrapKeyToFile = 2,
}

impl From<Extension> for u8 {
    fn from(extension: Extension) -> Self {
        extension as Self
    }
}

impl TryFrom<u8> for Extension {
    type Error = Error;

    fn try_from(id: u8) -> Result<Self, Error> {
        Self::from_repr(id).ok_or(Error::InternalError)
    }
}

impl ExtensionId<AuthExtension> for Dispatch {
    type Id = Extension;
    const ID: Extension = Extension::Auth;
}

impl ExtensionId<ChunkedExtension> for Dispatch {
    type Id = Extension;
    const ID: Extension = Extension::Chunked;
}

impl ExtensionId<WrapKeyToFileExtension> for Dispatch {
    type Id = Extension;
    const ID: Extension = Extension::WrapKeyToFile;
}

impl ExtensionDispatch for Dispatch {
    type BackendId = Unit;
    type Context = Contexts;
    type ExtensionId = Extension;

    fn core_request<P: Platform>(
        &mut self,
        backend: &Unit,
        context: &mut Context<Contexts>,
        request: &Request,
        resources: &mut ServiceResources<P>,
    ) -> Result<Reply, Error> {
        let (core, own) = (&mut context.core, &mut context.backends);
        match backend {
            Unit::Auth => self.auth.request(core, &mut own.auth, request, resources),
            Unit::Rsa => SoftwareRsa.request(core, &mut (), request, resources),
            Unit::Staging => self
                .staging
                .request(core, &mut own.staging, request, resources),
        }
    }

    fn extension_request<P: Platform>(
        &mut self,
        backend: &Unit,
        extension: &Extension,
        context: &mut Context<Contexts>,
        request: &request::SerdeExtension,
        resources: &mut ServiceResources<P>,
    ) -> Result<reply::SerdeExtension, Error> {
        let (core, own) = (&mut context.core, &mut context.backends);
        macro_rules! asked {
            ($backend:ident, $extension:ty) => {
                ExtensionImpl::<$extension>::extension_request_serialized(
                    &mut self.$backend,
                    core,
                    &mut own.$backend,
                    request,
                    resources,
                )
            };
        }
        match (backend, extension) {
            (Unit::Auth, Extension::Auth) => asked!(auth, AuthExtension),
            (Unit::Staging, Extension::Chunked) => asked!(staging, ChunkedExtension),
            (Unit::Staging, Extension::WrapKeyToFile) => asked!(staging, WrapKeyToFileExtension),
            _ => Err(Error::RequestNotAvailable),
        }
    }
}
