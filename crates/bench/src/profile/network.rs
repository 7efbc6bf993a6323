//! The way to a device behind a network: round trips, sessions and a quota. It is a profile's table `[network]`.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ServiceTime;

/// Way to a device behind a network. Nothing is set for a device at this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Time of each call that is sent to the device, there and back.
    #[serde(rename = "round_trip_s")]
    pub round_trip: Option<ServiceTime>,
    /// Additional time to open a session.
    #[serde(rename = "open_session_s")]
    pub open_session: Option<ServiceTime>,
    /// Additional time to log in.
    #[serde(rename = "login_s")]
    pub login: Option<ServiceTime>,
    /// Additional time to search objects.
    #[serde(rename = "find_objects_s")]
    pub find_objects: Option<ServiceTime>,
    /// Most sessions of one program (PKCS#11 3.1 §3.3, `ulMaxSessionCount`).
    pub sessions: Option<NonZeroU32>,
    /// Limit of the rate of private-key operations of all programs together.
    #[serde(rename = "quota_per_s")]
    pub quota: Option<Quota>,
    /// Operations that the quota admits at once after a pause; without it one.
    pub quota_burst: Option<NonZeroU32>,
    /// Answer to an operation beyond the quota.
    pub quota_error: Option<QuotaError>,
}

/// Limit of a rate, as the time after which one more operation is admitted. In a file it is operations per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Quota(pub Duration);

impl TryFrom<f64> for Quota {
    type Error = String;

    fn try_from(per_second: f64) -> Result<Self, String> {
        let interval = Duration::try_from_secs_f64(1.0 / per_second).ok();
        let interval = interval.filter(|interval| !interval.is_zero());
        interval
            .map(Self)
            .ok_or_else(|| format!("{per_second} is not a rate per second, such as 1000"))
    }
}

impl From<Quota> for f64 {
    fn from(quota: Quota) -> Self {
        1.0 / quota.0.as_secs_f64()
    }
}

/// Return code of an operation beyond a quota.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum QuotaError {
    /// `CKR_DEVICE_ERROR`
    #[default]
    #[serde(rename = "CKR_DEVICE_ERROR")]
    DeviceError,
    /// `CKR_FUNCTION_REJECTED`
    #[serde(rename = "CKR_FUNCTION_REJECTED")]
    FunctionRejected,
}

impl Network {
    /// Returns why the lines contradict each other.
    pub(super) fn contradiction(&self) -> Option<&'static str> {
        let limited = self.quota_burst.is_some() || self.quota_error.is_some();
        (self.quota.is_none() && limited)
            .then_some("quota_burst and quota_error need a quota_per_s")
    }
}
