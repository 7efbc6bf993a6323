//! Calls of a server to its key, and the duration of the operation alone.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::tls::servers::{CallsSoFar, InstalledServer, RunningServer};
use keymark_bench::runner::measure_alone;
use keymark_bench::workload::Workload;
use keymark_bench::{
    Calculator, Case, Clock, Durations, Error, FunctionCalls, Operation, OperationAlone,
    ServerLoad, TokenCalls, nanoseconds,
};
use keymark_load::KeyExchange;
use keymark_shim_protocol::pkcs11::trace::CallTimes;
use keymark_shim_protocol::pkcs11::{Call, Traced, WITH_PRIVATE_KEY};
use keymark_stores::access::Library;
use keymark_stores::software;
use keymark_stores::store::KeyStore;

use super::cluster::Cluster;
use super::keys::Keys;
use crate::raw;

/// Time for operations before a load, and again after it; a slow key takes longer for one.
const TIME: Duration = Duration::from_millis(150);
/// More tell nothing.
const MOST: u64 = 2_000;

/// Measurements of a key around one load.
pub(super) struct KeyUse {
    alone: Option<Alone>,
    before: Option<CallsSoFar>,
}

impl KeyUse {
    /// Begins before the load.
    pub(super) fn begin(
        case: &Case,
        keys: &Keys,
        cluster: &Cluster,
        (clock, seed): (&dyn Clock, u64),
    ) -> Result<Self, Error> {
        let alone = Alone::of(case, keys.store(), &cluster.first, seed);
        Ok(Self {
            alone: alone.and_then(|alone| alone.asked(clock)),
            before: cluster.calls()?,
        })
    }

    /// Ends after the drain.
    pub(super) fn end(
        self,
        handshakes: u64,
        cluster: &Cluster,
        clock: &dyn Clock,
        load: &mut ServerLoad,
    ) -> Result<(), Error> {
        if let (Some(before), Some(after)) = (&self.before, cluster.calls()?) {
            load.token_calls = Some(since(before, &after, handshakes));
        }
        let alone = self.alone.and_then(|alone| alone.asked(clock));
        load.alone = alone.map(Alone::done);
        Ok(())
    }
}

/// The private-key operation of one case, asked by keymark itself while the server is idle.
struct Alone {
    operation: Operation,
    by: Calculator,
    workload: Workload,
    /// Counts of durations in nanoseconds.
    took: BTreeMap<u64, u64>,
}

impl Alone {
    /// Ready to be asked. None where it cannot be: the server's library is not the one that is loaded here, or it has
    /// no such operation.
    fn of(
        case: &Case,
        store: &Arc<dyn KeyStore>,
        server: &RunningServer,
        seed: u64,
    ) -> Option<Self> {
        let operation = operation_of(case)?;
        let (by, library) = match server.spec.certificates.first.way() {
            None => {
                let version = own_libcrypto(&server.installed)?;
                let library = Some(Library::OpenSslSystem);
                (Calculator::Libcrypto(version), library)
            }
            Some(_) => (Calculator::Token, None),
        };
        let workload = raw::alone(case, store, (operation, library), seed).ok()?;
        Some(Self {
            operation,
            by,
            workload,
            took: BTreeMap::new(),
        })
    }

    /// Asks for a while; none if an operation fails, or its result is wrong.
    fn asked(mut self, clock: &dyn Clock) -> Option<Self> {
        for took in measure_alone(clock, &mut self.workload, TIME, MOST).ok()? {
            *self.took.entry(nanoseconds(took)).or_default() += 1;
        }
        Some(self)
    }

    fn done(self) -> OperationAlone {
        OperationAlone {
            operation: self.operation,
            by: self.by,
            durations: Durations(self.took.into_iter().collect()),
        }
    }
}

/// Operation of the server's key in a full handshake.
fn operation_of(case: &Case) -> Option<Operation> {
    let asked = super::Handshake::of(case).ok()?;
    Some(if asked.key_exchange == KeyExchange::Rsa {
        Operation::Decrypt
    } else {
        Operation::Sign
    })
}

/// The version of the distribution's libcrypto, if the server uses the same.
fn own_libcrypto(installed: &InstalledServer) -> Option<String> {
    let loaded = software::load(Library::OpenSslSystem).ok()?.version();
    let of_server = installed.openssl().ok()?.version.to_string();
    (loaded.split(' ').next() == Some(of_server.as_str())).then_some(of_server)
}

/// Difference of two readings, for this number of handshakes.
fn since(before: &CallsSoFar, after: &CallsSoFar, handshakes: u64) -> TokenCalls {
    let functions = after.calls.iter().filter_map(|(traced, times)| {
        let earlier = before.calls.get(traced);
        let since = times.since(earlier.unwrap_or(&CallTimes::default()))?;
        let durations = since
            .durations
            .into_iter()
            .map(|(time, count)| (nanoseconds(time), count));
        let function = FunctionCalls {
            calls: since.count,
            failed: since.failed,
            total_ns: nanoseconds(since.total),
            waited_ns: nanoseconds(since.waited),
            durations: Durations(durations.collect()),
            of_operation: is_of_operation(*traced),
        };
        Some((traced.name(), function))
    });
    TokenCalls {
        handshakes,
        processes: after.processes.len() as u64,
        functions: functions.collect(),
    }
}

/// Returns whether a call belongs to an operation with the private key, from its begin to its end, as in keymark's
/// own operation.
fn is_of_operation(traced: Traced) -> bool {
    const AROUND: [Call; 4] = [
        Call::C_SignInit,
        Call::C_SignUpdate,
        Call::C_DecryptInit,
        Call::C_DecryptUpdate,
    ];
    match traced {
        Traced::Load => false,
        Traced::Whole(call) | Traced::Length(call) => {
            WITH_PRIVATE_KEY.contains(&call) || AROUND.contains(&call)
        }
    }
}
