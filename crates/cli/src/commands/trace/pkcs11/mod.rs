//! `keymark trace --pkcs11`: what a program asks of a PKCS#11 module.

mod tables;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use keymark_bench::{DeviceName, Error, Provenance};
use keymark_report::{Document, Section};
use keymark_shim_protocol::pkcs11::settings::Settings;
use keymark_shim_protocol::pkcs11::trace::read;
use keymark_stacks::private_dir::PrivateDir;
use keymark_stores::device::{Looked, Wish};
use keymark_stores::pkcs11::modules::Places;
use keymark_stores::pkcs11::{self, wrapped};

use super::{Ended, Origin, traced};
use crate::args::TraceArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::signals::Listening;
use crate::{output, user};

/// Modules whose tokens are this CPU.
const IN_SOFTWARE: [&str; 3] = ["softhsm", "kryoptic", "softokn"];

pub(super) fn run(arguments: &TraceArguments, named: &str, signals: Listening) -> Outcome {
    let module = module(named).map_err(Failure::nothing_usable)?;
    let place = PrivateDir::new()?;
    let trace = place.path().join("trace");
    let settings = Settings {
        module: Some(module.clone()),
        trace: Some(trace.clone()),
        ..Settings::default()
    };
    let own = wrapped(&settings, place.path(), "keymark-pkcs11.so");
    let own = own.map_err(Failure::nothing_usable)?;
    let [program, rest @ ..] = arguments.command.as_slice() else {
        return Err(Failure::usage("no program to trace"));
    };
    let substitution = Substitution::new(named, &module, &own);
    let mut command = Command::new(program);
    command.args(rest.iter().map(|argument| substitution.of(argument)));
    command.envs(substitution.environment(std::env::vars_os()));
    let Some(ended) = traced(&mut command, signals)? else {
        return Ok(Exit::Interrupted);
    };
    let threads = read(&trace)?;
    let origin = origin(&module);
    let document = document(&threads, &ended, &origin, &own);
    output::document(&document);
    Ok(ended.exit)
}

/// The file of a module, by its path or its name.
fn module(named: &str) -> Result<PathBuf, Error> {
    let call = || format!("looking for the PKCS#11 module '{named}'");
    if named.contains('/') {
        let path = std::path::absolute(named).map_err(|error| Error::call(call(), error, ""))?;
        return if path.is_file() {
            Ok(path)
        } else {
            Err(Error::call(call(), "there is no such file", ""))
        };
    }
    let known = Places::of_user()
        .named(named)
        .map(|module| module.file.path);
    known.ok_or_else(|| {
        let advice = "'keymark devices' lists the modules here; name a file with its path";
        Error::call(call(), "no module has that name", advice)
    })
}

/// Device that was traced. Its tokens say what they are, which is asked when the program has ended: before, it would
/// be the first use of the module.
fn origin(module: &Path) -> Origin {
    let file = module.file_name().unwrap_or_default().to_string_lossy();
    let in_software = IN_SOFTWARE.iter().any(|name| file.contains(name));
    let by_name = if in_software {
        Provenance::Virtual
    } else {
        Provenance::Measured
    };
    Origin {
        device: DeviceName::new(file.trim_start_matches("lib").trim_end_matches(".so")),
        provenance: of_tokens(module).unwrap_or(by_name),
    }
}

fn of_tokens(module: &Path) -> Option<Provenance> {
    let wish = Wish::Named(vec![module.display().to_string()]);
    let mut looked = Looked::default();
    pkcs11::look(&wish, &user::of_pinentry(), &mut looked).ok()?;
    let said: Vec<Provenance> = looked
        .devices
        .iter()
        .map(|device| device.identity().provenance)
        .collect();
    [Provenance::Twin, Provenance::Measured, Provenance::Virtual]
        .into_iter()
        .find(|provenance| said.contains(provenance))
}

fn document(
    threads: &[keymark_shim_protocol::pkcs11::trace::TracedThread],
    ended: &Ended,
    origin: &Origin,
    own: &Path,
) -> Document {
    let whole = std::time::Duration::from_nanos(ended.end_ns.saturating_sub(ended.begin_ns));
    let processes = tables::processes(threads);
    if processes.is_empty() {
        let block = tables::nothing_asked(whole, own);
        return Document::of(vec![Section::headed("the program", vec![block])]);
    }
    let all = tables::all(&processes);
    let mut sections = vec![Section::headed(
        "calls to the module",
        vec![tables::calls(&all, whole, origin), tables::summary(&all)],
    )];
    if processes.len() > 1 {
        let table = tables::by_process(&processes, whole, origin);
        sections.push(Section::headed("process by process", vec![table]));
    }
    Document {
        answers: vec![tables::verdict(&all, whole), tables::over_network(threads)],
        ..Document::of(sections)
    }
}

const PLACEHOLDER: &str = "{module}";
const VARIABLES: [&str; 2] = ["PKCS11_MODULE_PATH", "PKCS11_PROVIDER_MODULE"];

/// Replacement of one module by another.
#[derive(Debug)]
struct Substitution {
    names: Vec<String>,
    /// Its file, without links.
    file: Option<PathBuf>,
    own: PathBuf,
}

impl Substitution {
    /// The module as it was named, where its file is, and keymark's.
    fn new(named: &str, module: &Path, own: &Path) -> Self {
        let whole = module.to_str().map(str::to_owned);
        let as_named = named.contains('/').then(|| named.to_owned());
        let mut names: Vec<String> = whole.into_iter().chain(as_named).collect();
        names.push(PLACEHOLDER.to_owned());
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names.dedup();
        Self {
            names,
            file: module.canonicalize().ok(),
            own: own.into(),
        }
    }

    /// An argument, or a value of the environment.
    fn of(&self, text: &OsStr) -> OsString {
        let Some(text) = text.to_str() else {
            return text.to_owned();
        };
        let own = self.own.to_string_lossy();
        let replaced = self
            .names
            .iter()
            .fold(text.to_owned(), |text, name| text.replace(name, &own));
        if replaced != text {
            return replaced.into();
        }
        // By another path, as the whole of it or behind '='.
        let (before, path) = text.rsplit_once('=').unwrap_or(("", text));
        if !self.is_module(path) {
            return text.into();
        }
        let equals = if path == text { "" } else { "=" };
        format!("{before}{equals}{own}").into()
    }

    fn is_module(&self, path: &str) -> bool {
        path.contains('/')
            && self.file.is_some()
            && Path::new(path).canonicalize().ok() == self.file
    }

    /// The variables that are to be different.
    fn environment(
        &self,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let named = variables.filter_map(|(name, value)| {
            let substituted = self.of(&value);
            (substituted != value).then_some((name, substituted))
        });
        let known = VARIABLES.map(|name| (name.into(), self.own.clone().into_os_string()));
        named.chain(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_is_found_wherever_it_stands() {
        let place = Substitution::new("./x.so", Path::new("/usr/lib/x.so"), Path::new("/own.so"));
        for (argument, expected) in [
            ("/usr/lib/x.so", "/own.so"),
            ("--provider=/usr/lib/x.so", "--provider=/own.so"),
            ("./x.so", "/own.so"),
            (
                "pkcs11:token=a?module-path={module}",
                "pkcs11:token=a?module-path=/own.so",
            ),
            ("/usr/lib/y.so", "/usr/lib/y.so"),
        ] {
            assert_eq!(place.of(OsStr::new(argument)), expected);
        }
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("x.so"), directory.path().join("y.so"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let linked = Substitution::new("x", &file, Path::new("/own.so"));
        let link = link.display().to_string();
        for (argument, expected) in [
            (link.clone(), "/own.so"),
            (format!("--module={link}"), "--module=/own.so"),
            (
                "--module=/nowhere/y.so".to_owned(),
                "--module=/nowhere/y.so",
            ),
        ] {
            assert_eq!(linked.of(OsStr::new(&argument)), expected);
        }
        let variables = [("A", "/usr/lib/x.so"), ("B", "b")]
            .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let changed = place.environment(variables.into_iter());
        let names: Vec<_> = changed
            .iter()
            .map(|(name, _)| name.to_str().unwrap())
            .collect();
        assert_eq!(names, ["A", "PKCS11_MODULE_PATH", "PKCS11_PROVIDER_MODULE"]);
        assert!(changed.iter().all(|(_, value)| value == "/own.so"));
    }
}
