//! A team's archive on a PostgreSQL server (`postgresql.sql` beside this has its tables, `deploy/postgresql/roles.sql` who may do what).

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
use openssl::ssl::{SslConnector, SslMethod, SslVerifyMode};
use postgres_openssl::TlsConnector;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout_at};
use tokio_postgres::Client;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::address::{Address, Check, Place};
use super::database::{Row, SampleRow, Values};
use super::guard::{Guarded, GuardedTls, Messages, Seen};
use super::{ArchiveError, Fault, PATIENCE};
use crate::exchange::limits;

const VERSION: i64 = 1;
const TABLES: &str = include_str!("postgresql.sql");
/// Octets a second that an answer brings at least, once it has begun.
const SLOWEST: u64 = 64 << 10;
/// "KMRK": one at a time makes the tables.
const LOCK: i64 = 0x4B4D_524B;

/// Waits for servers; their connections go on while it does.
static RUNTIME: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build());

/// A connection, made again when it was lost outside of a transaction. Shown without its address, which may have a password.
#[derive(derive_more::Debug)]
#[debug("Postgres")]
pub(super) struct Postgres {
    address: Address,
    client: RefCell<Option<Arc<Client>>>,
    in_transaction: Cell<bool>,
    /// How long others may keep it from answering.
    patience: Cell<Duration>,
}

impl Postgres {
    /// The archive of that address; a database without tables becomes one.
    pub(super) fn connect(path: &Path) -> Result<Self, Fault> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let new = Self {
            address: Address::new(&path.to_string_lossy(), &variable)?,
            client: RefCell::default(),
            in_transaction: Cell::new(false),
            patience: Cell::new(PATIENCE),
        };
        if !new.is_archive()? {
            if new.number("SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')")? > 0 {
                return Err(ArchiveError::Foreign(path.into()).into());
            }
            new.batch("BEGIN")?;
            new.number(&format!("SELECT 1 FROM pg_advisory_xact_lock({LOCK})"))?;
            // Another process may have been quicker.
            if !new.is_archive()? {
                new.batch(TABLES)?;
            }
            new.batch("COMMIT")?;
        }
        let found = new.number("SELECT version FROM keymark.archive")?;
        if found == VERSION {
            return Ok(new);
        }
        Err(ArchiveError::OtherVersion {
            path: path.into(),
            found,
            known: VERSION,
        }
        .into())
    }

    fn is_archive(&self) -> Result<bool, Fault> {
        let found = "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'keymark' AND tablename = 'archive'";
        Ok(self.number(found)? > 0)
    }

    fn number(&self, statement: &str) -> Result<i64, Fault> {
        let mut found = Err(rusqlite::Error::QueryReturnedNoRows);
        self.rows(statement, &[], &mut |row| {
            found = row.get(0);
            Ok(())
        })?;
        Ok(found?)
    }

    /// How long an answer may take to begin.
    fn limit(&self) -> Duration {
        self.address.silence + self.patience.get()
    }

    /// What the server answers. One that is silent is lost: its answer would be taken for the next one's.
    fn answer<T, E>(&self, asked: impl Future<Output = Result<T, E>>) -> Result<T, Fault>
    where
        Fault: From<E>,
    {
        let limit = self.limit();
        self.answer_by(&|| Instant::now() + limit, asked)
    }

    /// The same until then, which is asked for within the runtime.
    fn answer_by<T, E>(
        &self,
        end: &dyn Fn() -> Instant,
        asked: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Fault>
    where
        Fault: From<E>,
    {
        let none = |error| ArchiveError::Address(format!("cannot wait for a server: {error}"));
        let runtime = RUNTIME.as_ref().map_err(none)?;
        match runtime.block_on(async { timeout_at(end(), asked).await }) {
            Ok(answer) => Ok(answer?),
            Err(_) => {
                self.client.replace(None);
                Err(Fault::Silent(self.limit()))
            }
        }
    }

    /// The connection; outside of a transaction a new one, if it was lost.
    fn client(&self) -> Result<Arc<Client>, Fault> {
        let known = self.client.borrow().clone();
        let is_there = |client: &Client| self.answer(client.check_connection()).is_ok();
        match known {
            Some(client) if self.in_transaction.get() || is_there(&client) => Ok(client),
            None if self.in_transaction.get() => {
                Err(ArchiveError::Address("there is no connection".to_owned()).into())
            }
            _ => {
                let new = Arc::new(self.connection()?);
                self.client.replace(Some(new.clone()));
                Ok(new)
            }
        }
    }

    fn connection(&self) -> Result<Client, Fault> {
        let mut refused = None;
        for place in self.address.places() {
            match self.connection_to(&place) {
                Err(fault) => refused = Some(fault),
                connected => return connected,
            }
        }
        Err(refused.unwrap_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable).into()))
    }

    fn connection_to(&self, place: &Place) -> Result<Client, Fault> {
        let mut config = self.address.config.clone();
        let (name, is_known): (&str, bool) = match place {
            Place::Tcp { name, .. } => (name, self.address.check != Check::Nothing),
            // Who is there is the system's to say; as for libpq, TLS adds nothing.
            Place::Unix(_) => {
                config.ssl_mode(SslMode::Disable);
                ("localhost", true)
            }
        };
        let tls = self.tls(name)?;
        let messages = Messages::of(matches!(place, Place::Unix(_)));
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
            let settings = "SET search_path = pg_catalog, keymark, pg_temp; SET jit = off; SET lock_timeout = '2s'";
            client.batch_execute(settings).await.map(|()| client)
        })
    }

    fn tls(&self, name: &str) -> Result<TlsConnector, Fault> {
        let failed =
            |error| ArchiveError::Address(format!("cannot prepare TLS for the archive: {error}"));
        let mut builder = SslConnector::builder(SslMethod::tls_client()).map_err(failed)?;
        if self.address.check == Check::Nothing {
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
        connection.set_verify_hostname(self.address.check == Check::AuthorityAndName);
        Ok(TlsConnector::new(connection, name))
    }

    pub(super) fn rows(
        &self,
        statement: &str,
        values: Values<'_>,
        each: &mut dyn FnMut(Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), Fault> {
        let values = values.iter().map(|value| Parameter::of(*value));
        let values = values.collect::<rusqlite::Result<Vec<_>>>()?;
        let client = self.client()?;
        let statement = statement.replace('?', "$");
        let mut rows = pin!(self.answer(client.query_typed_raw(&statement, values))?);
        // One limit for all rows, which each makes later by what it brings.
        let (mut begun, mut octets) = (None, 0);
        loop {
            let room = Duration::from_secs_f64(octets as f64 / SLOWEST as f64);
            let end = || begun.unwrap_or_else(Instant::now) + self.limit() + room;
            let Some(row) = self.answer_by(&end, rows.try_next())? else {
                return Ok(());
            };
            begun = begun.or_else(|| Some(Instant::now()));
            octets += row.raw_size_bytes();
            if octets > limits::BYTES {
                self.client.replace(None);
                return Err(Fault::Endless);
            }
            each(Row::Postgres(&row))?;
        }
    }

    pub(super) fn append(&self, samples: &[SampleRow]) -> Result<(), Fault> {
        let mut text = String::new();
        for sample in samples {
            let cells = sample.iter().format_with("\t", |value, write| match value {
                Some(number) => write(number),
                None => write(&"\\N"),
            });
            // To a text nothing fails.
            let _ = writeln!(text, "{cells}");
        }
        let client = self.client()?;
        self.answer(async {
            let mut copy = pin!(client.copy_in("COPY sample FROM STDIN").await?);
            copy.send(Cursor::new(text)).await?;
            copy.finish().await
        })?;
        Ok(())
    }

    pub(super) fn batch(&self, statements: &str) -> Result<(), Fault> {
        // Who ends a transaction has ended it, if only by losing it.
        let begins = statements.starts_with("BEGIN");
        let client = self.client();
        let done = client.and_then(|client| self.answer(client.batch_execute(statements)));
        if begins || matches!(statements, "COMMIT" | "ROLLBACK") {
            self.in_transaction.set(begins && done.is_ok());
        }
        done
    }

    /// Waits that long for another process that writes.
    pub(super) fn be_patient(&self, patience: Duration) -> Result<(), Fault> {
        self.patience.set(patience);
        self.batch(&format!(
            "SET lock_timeout = {}",
            patience.as_millis().max(1)
        ))
    }
}

/// A value of a column.
pub(super) struct Column<'a>(pub(super) ValueRef<'a>);

impl<'a> FromSql<'a> for Column<'a> {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *of {
            Type::BOOL => ValueRef::Integer(bool::from_sql(of, raw)?.into()),
            Type::INT2 => ValueRef::Integer(i16::from_sql(of, raw)?.into()),
            Type::INT4 => ValueRef::Integer(i32::from_sql(of, raw)?.into()),
            Type::INT8 => ValueRef::Integer(i64::from_sql(of, raw)?),
            Type::FLOAT8 => ValueRef::Real(f64::from_sql(of, raw)?),
            _ => ValueRef::Text(raw),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// What stands for `$1`: numbers go to columns of eight bytes only.
#[derive(Debug)]
struct Parameter(Value);

impl Parameter {
    /// With its type, where the server shall not find that out from the statement.
    #[allow(clippy::wildcard_enum_match_arm, reason = "another library's")]
    fn of(value: &dyn rusqlite::ToSql) -> rusqlite::Result<(Self, Type)> {
        let value = match value.to_sql()? {
            ToSqlOutput::Owned(value) => value,
            ToSqlOutput::Borrowed(value) => value.try_into()?,
            other => {
                return Err(rusqlite::Error::ToSqlConversionFailure(
                    format!("{other:?}").into(),
                ));
            }
        };
        let of = match value {
            Value::Integer(_) => Type::INT8,
            Value::Real(_) => Type::FLOAT8,
            _ => Type::UNKNOWN,
        };
        Ok((Self(value), of))
    }
}

impl ToSql for Parameter {
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

async fn stream(place: &Place) -> io::Result<Box<dyn Stream>> {
    Ok(match place {
        Place::Unix(path) => Box::new(UnixStream::connect(path).await?),
        Place::Tcp { host, port, .. } => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
    })
}

/// What happened, and why, as far as its causes say more.
pub(super) fn whole(error: &tokio_postgres::Error) -> String {
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

impl ArchiveError {
    pub(super) fn of_postgres(path: &Path, error: &tokio_postgres::Error) -> Self {
        let path = path.into();
        let Some(told) = error.as_db_error() else {
            let reason = whole(error);
            let lost = [
                "connection closed",
                "error communicating",
                "error connecting",
                "error performing TLS handshake",
                "timeout",
            ];
            return if lost.iter().any(|begin| reason.starts_with(begin)) {
                Self::Unreachable { path, reason }
            } else {
                Self::Refused { path, reason }
            };
        };
        let reason = told.message().to_owned();
        let code = told.code();
        let is = |codes: &[SqlState]| codes.contains(code);
        let is_of = |classes: &[&str]| classes.iter().any(|class| code.code().starts_with(class));
        if is(&[
            SqlState::UNDEFINED_TABLE,
            SqlState::UNDEFINED_COLUMN,
            SqlState::UNDEFINED_FUNCTION,
        ]) {
            Self::Foreign(path)
        } else if is(&[SqlState::DISK_FULL]) {
            Self::Full(path)
        } else if is(&[
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::UNIQUE_VIOLATION,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
        ]) {
            Self::Locked(path)
        } else if is(&[SqlState::TOO_MANY_CONNECTIONS]) || is_of(&["08", "57"]) {
            Self::Unreachable { path, reason }
        } else if is_of(&["25", "28", "3D", "42"]) {
            Self::Refused { path, reason }
        } else {
            Self::Damaged { path, reason }
        }
    }
}
