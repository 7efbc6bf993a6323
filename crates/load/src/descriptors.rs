//! Room for as many connections as are wanted.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::error::LoadError;

/// Descriptors besides connections: of each thread (epoll, timer), and of the calling program.
const BESIDES: u64 = 64;

/// Makes room for that number of open files more, raising the soft limit to the hard one if need be.
pub(crate) fn make_room(connections: u32, threads: u32) -> Result<(), LoadError> {
    let open = std::fs::read_dir("/proc/self/fd").map_or(BESIDES, |files| files.count() as u64);
    let needed = open + u64::from(connections) + 4 * u64::from(threads) + BESIDES;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)
        .map_err(|errno| LoadError::system("getrlimit(RLIMIT_NOFILE)", errno))?;
    #[allow(
        clippy::useless_conversion,
        reason = "rlim_t has 32 bits on some architectures"
    )]
    let (soft, most) = (u64::from(soft), u64::from(hard));
    if needed <= soft {
        return Ok(());
    }
    if needed > most {
        return Err(LoadError::Impossible(format!(
            "the load needs {needed} file descriptors, but the limit is {most}; raise the hard limit of open files \
             (ulimit -Hn as root, or LimitNOFILE= of the service), or use fewer users"
        )));
    }
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
        .map_err(|errno| LoadError::system("setrlimit(RLIMIT_NOFILE)", errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_hard_limit_is_explained() {
        make_room(10, 1).unwrap();
        let error = make_room(u32::MAX, 1).unwrap_err();
        assert!(error.to_string().contains("ulimit -Hn"), "{error}");
    }
}
