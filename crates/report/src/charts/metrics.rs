//! Width of text in DejaVu Sans, whose widths are those of Verdana within a few per cent. Fonts that replace it
//! elsewhere are narrower.

use unicode_width::UnicodeWidthChar;

/// Thousandths of the size, from U+0020 to U+007E.
const REGULAR: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

const BOLD: [u16; 95] = [
    348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696,
    696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683,
    683, 821, 837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771,
    724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665,
    343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    Regular,
    Bold,
}

/// Width of a line of text of that size, in pixels, in the font of the pictures.
pub fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let table = match weight {
        Weight::Regular => &REGULAR,
        Weight::Bold => &BOLD,
    };
    let thousandths = |c: char| {
        let place = u32::from(c).checked_sub(0x20).map(|place| place as usize);
        match place.and_then(|place| table.get(place)) {
            Some(width) => f64::from(*width),
            None => match c.width() {
                // For what is not seen a sign may be written.
                Some(0) | None => 1_113.0,
                Some(1) if u32::from(c) < 0x400 => 660.0,
                Some(1) => 900.0,
                Some(_) => 1_350.0,
            },
        }
    };
    text.chars().map(thousandths).sum::<f64>() * size / 1_000.0
}

/// Cuts a text to the room that there is, with an ellipsis for the rest.
pub(crate) fn cut(text: &str, size: f64, weight: Weight, room: f64) -> String {
    if width(text, size, weight) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&format!("{kept}…"), size, weight) > room {
            kept.pop();
            break;
        }
    }
    format!("{}…", kept.trim_end())
}

/// Breaks a text into lines between words; a word without room is cut.
pub(crate) fn wrap(text: &str, size: f64, weight: Weight, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let fits = lines.last().map(|line| format!("{line} {word}"));
        match (fits, lines.last_mut()) {
            (Some(longer), Some(line)) if width(&longer, size, weight) <= room => *line = longer,
            _ => lines.push(cut(word, size, weight, room)),
        }
    }
    lines
}
