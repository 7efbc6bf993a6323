//! Modules that read their configuration from the environment of the process they are loaded into: SoftHSM2
//! from `SOFTHSM2_CONF`, when it is initialised.

use std::ffi::OsString;
use std::fs;

/// Sets or removes variables of this process, if no other thread can be reading the environment: this one
/// is the only thread.
///
/// # Errors
/// Why none was: how many threads there are, or that they cannot be counted.
pub fn set_alone(variables: &[(String, Option<OsString>)]) -> Result<(), String> {
    let threads = fs::read_dir("/proc/self/task").map_err(|error| error.to_string())?;
    match threads.count() {
        1 => {}
        several => return Err(format!("this process has {several} threads")),
    }
    for (name, value) in variables {
        match value {
            // SAFETY: what makes this unsound is another thread that reads or writes the environment. There
            // is none, and none can come while this one is here; signal handlers read no environment.
            Some(value) => unsafe { std::env::set_var(name, value) },
            // SAFETY: as above.
            None => unsafe { std::env::remove_var(name) },
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_other_threads_the_environment_stays() {
        const NAME: &str = "KEYMARK_TEST_ENVIRONMENT";
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || ended.recv());
        let variable = (NAME.to_owned(), Some("x".into()));
        let refused = set_alone(&[variable]).unwrap_err();
        assert!(refused.contains("threads"), "{refused}");
        assert_eq!(std::env::var_os(NAME), None);
        end.send(()).unwrap();
        other.join().unwrap().unwrap();
    }
}
