//! A team's archive on a PostgreSQL server. `postgresql.sql` has its tables, and `deploy/postgresql/roles.sql` its roles.

use std::cell::{Cell, RefCell};
use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Cursor};
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::{SinkExt, TryStreamExt};
use itertools::Itertools;
use keymark_bench::outside::visible::excerpt;
use keymark_bench::{Clock as _, MonotonicClock};
use openssl::ssl::{SslConnector, SslMethod, SslVerifyMode};
use postgres_openssl::TlsConnector;
use rusqlite::types::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::address::{Address, CertificateCheck, Endpoint};
use super::database::{Database, SampleRow, SqlRow, TransactionStep, values};
use super::guard::{Guarded, GuardedTls, Messages, Seen, TlsFailure};
use super::{ArchiveError, ArchiveFailure, PATIENCE, Result, other_version};
use crate::exchange::limits;

/// Version of the archive that this program reads and writes.
const VERSION: i64 = 1;
const TABLES: &str = include_str!("postgresql.sql");
/// Lowest rate of an answer that has begun, in octets per second.
const SLOWEST: u64 = 64 << 10;
/// Number of the lock under which tables are made: "KMRK".
const LOCK: i64 = 0x4B4D_524B;
/// An owner of the schema or of something in it who is neither this role, a superuser nor a member of the role that owns the
/// database. With CREATE on a database any role can make a schema of that name first.
const FOREIGN_OWNER: &str = "SELECT coalesce(min(owner.rolname), '') FROM (
        SELECT nspowner AS role FROM pg_catalog.pg_namespace WHERE nspname = 'keymark'
        UNION SELECT relowner FROM pg_catalog.pg_class WHERE relnamespace = to_regnamespace('keymark')
        UNION SELECT proowner FROM pg_catalog.pg_proc WHERE pronamespace = to_regnamespace('keymark')
    ) found JOIN pg_catalog.pg_roles owner ON owner.oid = found.role
    JOIN pg_catalog.pg_database database ON database.datname = current_database()
    WHERE NOT owner.rolsuper AND owner.rolname NOT IN (current_user, 'pg_database_owner')
    AND NOT pg_has_role(owner.oid, database.datdba, 'MEMBER')";
const SETTINGS: &str =
    "SET search_path = pg_catalog, keymark, pg_temp; SET jit = off; SET lock_timeout = '2s'";

/// Waits for servers. Connections make progress while it waits.
static RUNTIME: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build());

/// A connection, made again if it was lost outside of a transaction. Its address may have a password and is not shown.
#[derive(derive_more::Debug)]
#[debug("Postgres")]
pub(super) struct Postgres {
    address: Address,
    client: RefCell<Option<Arc<Client>>>,
    in_transaction: Cell<bool>,
    patience: Cell<Duration>,
}

impl Postgres {
    /// Opens the archive at that address. A database without tables becomes one.
    pub(super) fn connect(path: &Path) -> Result<Self> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let new = Self {
            address: Address::new(&path.to_string_lossy(), &variable)?,
            client: RefCell::default(),
            in_transaction: Cell::new(false),
            patience: Cell::new(PATIENCE),
        };
        let database: &dyn Database = &new;
        let is_archive = || -> Result<bool> {
            let tables = "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'keymark' AND tablename = 'archive'";
            Ok(database.value::<i64>(tables, &[])? > 0)
        };
        if !is_archive()? {
            let others = "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
            if database.value::<i64>(others, &[])? > 0 {
                return Err(ArchiveError::new(ArchiveFailure::Foreign, ""));
            }
            let writing = database.writing()?;
            let lock = "SELECT 1 FROM pg_advisory_xact_lock($1)";
            database.execute(lock, values![LOCK])?;
            // Another process may have been quicker.
            if !is_archive()? {
                new.batch(TABLES)?;
            }
            writing.commit()?;
        }
        let owner: String = database.value(FOREIGN_OWNER, &[])?;
        if !owner.is_empty() {
            return Err(ArchiveError::Other(format!(
                "schema keymark of archive {} belongs to role '{}', which does not own the database and could read and \
                 forge every run; ask the owner of the database to drop the schema and to make the archive \
                 (docs/archive.md)",
                path.display(),
                excerpt(&owner)
            )));
        }
        match database.value("SELECT version FROM keymark.archive", &[])? {
            VERSION => Ok(new),
            found => Err(other_version(path, found, VERSION)),
        }
    }

    /// Longest time until an answer begins.
    fn limit(&self) -> Duration {
        self.address.silence + self.patience.get()
    }

    fn answer<T, E: Into<ArchiveError>>(
        &self,
        asked: impl Future<Output = Result<T, E>>,
    ) -> Result<T> {
        self.answer_within(self.limit(), asked)
    }

    /// Waits for the server's answer. A connection without one is lost: the answer would be taken for the next one's.
    fn answer_within<T, E: Into<ArchiveError>>(
        &self,
        limit: Duration,
        asked: impl Future<Output = Result<T, E>>,
    ) -> Result<T> {
        let none = |error| ArchiveError::Address(format!("cannot wait for a server: {error}"));
        let runtime = RUNTIME.as_ref().map_err(none)?;
        match runtime.block_on(async { timeout(limit, asked).await }) {
            Ok(answer) => answer.map_err(Into::into),
            Err(_) => {
                self.client.replace(None);
                let silent = format!("no answer for {} s", self.limit().as_secs());
                Err(ArchiveError::new(ArchiveFailure::Unreachable, silent))
            }
        }
    }

    /// Returns the connection, or a new one if it was lost outside of a transaction.
    fn client(&self) -> Result<Arc<Client>> {
        let known = self.client.borrow().clone();
        let is_there = |client: &Client| self.answer(client.check_connection()).is_ok();
        match known {
            Some(client) if self.in_transaction.get() || is_there(&client) => Ok(client),
            None if self.in_transaction.get() => {
                Err(ArchiveError::Address("there is no connection".to_owned()))
            }
            _ => {
                let new = Arc::new(self.connection()?);
                self.client.replace(Some(new.clone()));
                Ok(new)
            }
        }
    }

    fn connection(&self) -> Result<Client> {
        let mut refused = None;
        for place in self.address.endpoints() {
            match self.connection_to(&place) {
                Err(fault) => refused = Some(fault),
                connected => return connected,
            }
        }
        Err(refused.unwrap_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable).into()))
    }

    fn connection_to(&self, place: &Endpoint) -> Result<Client> {
        let mut config = self.address.config.clone();
        let (name, is_known): (&str, bool) = match place {
            Endpoint::Tcp(name, _) => (name, self.address.check != CertificateCheck::Nothing),
            // The system vouches for a socket's owner. As with libpq, TLS adds nothing.
            Endpoint::Unix(_) => {
                config.ssl_mode(SslMode::Disable);
                ("localhost", true)
            }
        };
        let tls = self.tls(name)?;
        let messages = Messages::of(matches!(place, Endpoint::Unix(_)));
        let seen = if config.get_ssl_mode() == SslMode::Disable {
            Seen::Messages(messages)
        } else {
            Seen::Answer(messages)
        };
        let stream = Guarded::new(self.answer(stream(place))?, seen);
        self.answer(async {
            let tls = GuardedTls { tls, is_known };
            let (client, connection) = config.connect_raw(stream, tls).await?;
            tokio::spawn(connection);
            client.batch_execute(SETTINGS).await.map(|()| client)
        })
    }

    fn tls(&self, name: &str) -> Result<TlsConnector> {
        let failed =
            |error| ArchiveError::Address(format!("cannot prepare TLS for the archive: {error}"));
        let mut builder = SslConnector::builder(SslMethod::tls_client()).map_err(failed)?;
        if self.address.check == CertificateCheck::Nothing {
            builder.set_verify(SslVerifyMode::NONE);
        } else {
            let file = &self.address.authorities;
            builder.set_ca_file(file).map_err(|error| {
                ArchiveError::Address(format!(
                    "cannot read certificates of {}: {error}; name a file of them with PGSSLROOTCERT",
                    file.display()
                ))
            })?;
        }
        let mut connection = builder.build().configure().map_err(failed)?;
        connection.set_verify_hostname(self.address.check == CertificateCheck::AuthorityAndName);
        Ok(TlsConnector::new(connection, name))
    }

    fn batch(&self, statements: &str) -> Result<()> {
        let client = self.client()?;
        self.answer(client.batch_execute(statements))
    }
}

impl Database for Postgres {
    fn query(
        &self,
        statement: &str,
        values: &[Value],
        each: &mut dyn FnMut(&SqlRow) -> Result<()>,
    ) -> Result<()> {
        let values = values.iter().map(|value| {
            let value = ServerValue(value.clone());
            let of = value.server_type();
            (value, of)
        });
        let client = self.client()?;
        let mut rows = pin!(self.answer(client.query_typed_raw(statement, values))?);
        // One limit for all rows. Each extends it by its length.
        let clock = MonotonicClock::new();
        let (mut begun, mut octets) = (None, 0);
        loop {
            let room = Duration::from_secs_f64(octets as f64 / SLOWEST as f64);
            let since = begun.map_or(Duration::ZERO, |begun| clock.now().since(begun));
            let limit = (self.limit() + room).saturating_sub(since);
            let Some(row) = self.answer_within(limit, rows.try_next())? else {
                return Ok(());
            };
            begun = begun.or_else(|| Some(clock.now()));
            octets += row.raw_size_bytes();
            if octets > limits::BYTES {
                self.client.replace(None);
                let endless = "its answer is larger than any archive's".to_owned();
                return Err(ArchiveError::new(ArchiveFailure::Unreachable, endless));
            }
            let found = (0..row.len())
                .map(|column| row.try_get(column).map(|ServerValue(value)| value))
                .collect::<Result<_, _>>()
                .map_err(ArchiveError::damaged)?;
            each(&SqlRow(found))?;
        }
    }

    fn append(&self, samples: &[SampleRow]) -> Result<()> {
        let mut text = String::new();
        for sample in samples {
            let cells = sample.iter().format_with("\t", |value, write| match value {
                Some(number) => write(number),
                None => write(&"\\N"),
            });
            // Writing to a string does not fail.
            let _ = writeln!(text, "{cells}");
        }
        let client = self.client()?;
        self.answer(async {
            let mut copy = pin!(client.copy_in("COPY sample FROM STDIN").await?);
            copy.send(Cursor::new(text)).await?;
            copy.finish().await.map(drop)
        })
    }

    fn transact(&self, step: TransactionStep) -> Result<()> {
        let done = self.batch(match step {
            TransactionStep::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            TransactionStep::Write => "BEGIN",
            TransactionStep::Commit => "COMMIT",
            TransactionStep::RollBack => "ROLLBACK",
        });
        // A lost connection also ends its transaction.
        self.in_transaction
            .set(matches!(step, TransactionStep::Read | TransactionStep::Write) && done.is_ok());
        done
    }

    fn set_patience(&self, patience: Duration) -> Result<()> {
        self.patience.set(patience);
        let milliseconds = patience.as_millis().max(1);
        self.batch(&format!("SET lock_timeout = {milliseconds}"))
    }
}

/// A value on its way to or from a server.
#[derive(Debug)]
struct ServerValue(Value);

impl ServerValue {
    /// Returns the type that the server is told. It infers that of texts from the statement.
    const fn server_type(&self) -> Type {
        match self.0 {
            Value::Integer(_) => Type::INT8,
            Value::Real(_) => Type::FLOAT8,
            Value::Null | Value::Text(_) | Value::Blob(_) => Type::UNKNOWN,
        }
    }
}

impl<'a> FromSql<'a> for ServerValue {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *of {
            Type::INT2 => i16::from_sql(of, raw)?.into(),
            Type::INT4 => i32::from_sql(of, raw)?.into(),
            Type::INT8 => i64::from_sql(of, raw)?.into(),
            Type::FLOAT8 => f64::from_sql(of, raw)?.into(),
            _ => str::from_utf8(raw)?.to_owned().into(),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl ToSql for ServerValue {
    fn to_sql(
        &self,
        of: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match &self.0 {
            Value::Null => Ok(IsNull::Yes),
            Value::Integer(number) => number.to_sql(of, out),
            Value::Real(number) => number.to_sql(of, out),
            Value::Text(text) => text.to_sql(of, out),
            Value::Blob(octets) => octets.to_sql(of, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A connection of either kind.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

async fn stream(place: &Endpoint) -> io::Result<Box<dyn Stream>> {
    Ok(match place {
        Endpoint::Unix(path) => Box::new(UnixStream::connect(path).await?),
        Endpoint::Tcp(host, port) => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
    })
}

/// Returns the error with its causes.
pub(super) fn with_causes(error: &tokio_postgres::Error) -> String {
    let mut whole = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        if !whole.contains(&error.to_string()) {
            let _ = write!(whole, ": {error}");
        }
        cause = error.source();
    }
    whole
}

impl From<io::Error> for ArchiveError {
    fn from(error: io::Error) -> Self {
        let reason = format!("error connecting to server: {error}");
        Self::new(ArchiveFailure::Unreachable, reason)
    }
}

impl From<tokio_postgres::Error> for ArchiveError {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(refused) = error.as_db_error() {
            return Self::new(failure(refused.code()), refused.message());
        }
        let is_lost = error.is_closed()
            || error
                .source()
                .is_some_and(|cause| cause.is::<io::Error>() || cause.is::<TlsFailure>());
        let failure = if is_lost {
            ArchiveFailure::Unreachable
        } else {
            ArchiveFailure::Refused
        };
        Self::new(failure, with_causes(&error))
    }
}

/// Sorts the codes of a server (postgresql.org/docs/15/errcodes-appendix.html).
fn failure(code: &SqlState) -> ArchiveFailure {
    let is_one_of = |codes: &[SqlState]| codes.contains(code);
    let is_of_class = |classes: &[&str]| classes.iter().any(|class| code.code().starts_with(class));
    if is_one_of(&[
        SqlState::UNDEFINED_TABLE,
        SqlState::UNDEFINED_COLUMN,
        SqlState::UNDEFINED_FUNCTION,
    ]) {
        ArchiveFailure::Foreign
    } else if is_one_of(&[SqlState::DISK_FULL]) {
        ArchiveFailure::Full
    } else if is_one_of(&[
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::UNIQUE_VIOLATION,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::T_R_SERIALIZATION_FAILURE,
    ]) {
        ArchiveFailure::Locked
    } else if is_one_of(&[SqlState::TOO_MANY_CONNECTIONS]) || is_of_class(&["08", "57"]) {
        ArchiveFailure::Unreachable
    } else if is_of_class(&["25", "28", "3D", "42"]) {
        ArchiveFailure::Refused
    } else {
        ArchiveFailure::Damaged
    }
}
