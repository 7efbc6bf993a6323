//! Draws colored terminal text on stdin as an SVG on stdout (`make pictures`).

use std::io::{Read, Write, stdin, stdout};

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    let picture = anstyle_svg::Term::new().render_svg(&text);
    stdout().write_all(picture.as_bytes())
}
