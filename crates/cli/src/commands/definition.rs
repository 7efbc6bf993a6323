//! `keymark completions` and `keymark man`, from the definition of the command line.

use std::fs;
use std::path::Path;

use clap_complete::Shell;

use crate::exit::{Exit, Outcome};
use crate::{args, output};

pub(super) fn completions(shell: Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "keymark", &mut script);
    output::print(&String::from_utf8_lossy(&script));
    Exit::Fine
}

pub(super) fn man(directory: Option<&Path>) -> Outcome {
    match directory {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(args::command()).render(&mut page)?;
            output::print(&String::from_utf8_lossy(&page));
        }
        Some(directory) => {
            let written = fs::create_dir_all(directory)
                .and_then(|()| clap_mangen::generate_to(args::command(), directory));
            let place = directory.display();
            written.map_err(|error| format!("cannot write man pages to {place}: {error}"))?;
        }
    }
    Ok(Exit::Fine)
}
