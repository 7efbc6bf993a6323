//! What holds for every picture, whatever is in it: it is well-formed, has words for who does not see it, no number that is
//! none, and no text beyond its edges.

use keymark_report::charts::terminal::{self, Signs};
use keymark_report::charts::{
    About, Along, Axis, Bar, Chart, Dot, Fill, Group, Interval, Mark, Panel, Path, Polyline,
    RowText, Rule, Scale, Spacing, Theme, Weight, svg, text_width,
};
use keymark_report::units::Unit;
use proptest::prelude::*;
use proptest::sample::select;
use roxmltree::{Document, Node};

const FILLS: [Fill; 5] = [
    Fill::Solid,
    Fill::Half,
    Fill::Hatched,
    Fill::Dotted,
    Fill::Hollow,
];

fn numbers() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![
        4 => 1e-7..1e2_f64,
        1 => any::<f64>(),
        1 => select(vec![0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN, f64::MAX, f64::MIN_POSITIVE, 1e-300]),
    ]
}

fn words() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        3 => "[a-z0-9:=]{0,12}( [a-z0-9]{1,9}){0,3}",
        1 => any::<String>(),
        1 => select(vec![
            "</title><script>alert(1)</script>".to_owned(),
            "\"><image href='x' onerror='y'/>".to_owned(),
            "]]>&amp;<!--".to_owned(),
            "\u{1b}[2J\u{202e}\u{0}".to_owned(),
            "長い名前のデバイス".repeat(12),
            "W".repeat(300),
        ]),
    ]
}

fn about() -> impl Strategy<Value = About> + Clone {
    (proptest::option::of(words()), words()).prop_map(|(case, text)| About { case, text })
}

fn interval() -> impl Strategy<Value = Option<Interval>> + Clone {
    let side = proptest::option::of(numbers());
    let interval = (side.clone(), side).prop_map(|(low, high)| Interval { low, high });
    proptest::option::of(interval)
}

fn mark() -> impl Strategy<Value = Mark> {
    let style = (0_usize..12, select(FILLS.to_vec()), about());
    let points = proptest::collection::vec((numbers(), numbers()), 0..6);
    let path = select(vec![Path::Straight, Path::Fitted]);
    let dot = (numbers(), 0_u32..6, interval(), style.clone());
    let bar = (0_u32..6, numbers(), numbers(), style.clone(), words());
    let rule = (select(vec![Along::X, Along::Y]), numbers(), words());
    prop_oneof![
        dot.prop_map(|(x, y, interval, (series, fill, about))| Mark::Dot(Dot {
            x,
            y: f64::from(y),
            interval,
            series,
            fill,
            about,
        })),
        bar.prop_map(
            |(y, from, to, (series, fill, about), label)| Mark::Bar(Bar {
                from,
                to,
                y: f64::from(y),
                series,
                fill,
                label,
                about,
            })
        ),
        (points, path, style).prop_map(|(points, path, (series, fill, about))| {
            Mark::Line(Polyline {
                points,
                path,
                series,
                fill,
                label: None,
                about,
            })
        }),
        rule.prop_map(|(along, at, label)| Mark::Rule(Rule { along, at, label })),
    ]
}

fn scale() -> impl Strategy<Value = Scale> {
    let unit = select(vec![
        Unit::Seconds,
        Unit::PerSecond,
        Unit::Times,
        Unit::Change,
        Unit::Count,
    ]);
    let spacing = select(vec![
        Spacing::Linear,
        Spacing::FromZero,
        Spacing::Logarithmic,
    ]);
    let ticks = proptest::collection::vec(numbers(), 0..4);
    (words(), unit, spacing, ticks)
        .prop_map(|(label, unit, spacing, ticks)| Scale::new(&label, unit, spacing).ticks(ticks))
}

fn rows() -> impl Strategy<Value = Vec<Group>> {
    let row = (words(), words()).prop_map(|(label, value)| RowText {
        label,
        value: value.chars().take(20).collect(),
    });
    let group = (
        proptest::option::of(words()),
        proptest::collection::vec(row, 0..4),
    );
    let group = group.prop_map(|(heading, rows)| Group { heading, rows });
    proptest::collection::vec(group, 0..3)
}

prop_compose! {
    fn charts()(
        (title, summary) in (words(), words()),
        x in scale(),
        panels in proptest::collection::vec(
            (
                proptest::option::of(words()),
                prop_oneof![scale().prop_map(Axis::Scale), rows().prop_map(Axis::Rows)],
                40.0..300.0_f64,
                proptest::collection::vec(mark(), 0..12),
            ),
            0..3,
        ),
        keys in proptest::collection::vec(words(), 0..9),
        notes in proptest::collection::vec(words(), 0..3),
    ) -> Chart {
        let panels = panels.into_iter().map(|(heading, y, height, marks)| Panel { heading, y, height, marks });
        Chart {
            kind: "any",
            title,
            summary,
            x,
            panels: panels.collect(),
            keys,
            fills: FILLS.map(|fill| (fill, format!("{fill:?}"))).to_vec(),
            notes,
        }
    }
}

fn attribute(node: Node<'_, '_>, name: &str) -> Option<f64> {
    node.attribute(name).map(|value| value.parse().unwrap())
}

/// Left, top, right and lower end of a line of text.
fn extent(text: Node<'_, '_>) -> [f64; 4] {
    let (x, y) = (attribute(text, "x").unwrap(), attribute(text, "y").unwrap());
    let size = attribute(text, "font-size").unwrap();
    let weight = match text.attribute("font-weight") {
        Some(_) => Weight::Bold,
        None => Weight::Regular,
    };
    let width = text_width(text.text().unwrap_or_default(), size, weight);
    let from = match text.attribute("text-anchor") {
        Some("middle") => x - width / 2.0,
        Some("end") => x - width,
        _ => x,
    };
    [from, y - size, from + width, y]
}

/// What every SVG of ours is.
pub fn check(text: &str) {
    let document = Document::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let svg = document.root_element();
    assert_eq!(svg.attribute("role"), Some("img"));
    let labels: Vec<&str> = svg
        .attribute("aria-labelledby")
        .unwrap()
        .split(' ')
        .collect();
    for (label, name) in labels.into_iter().zip(["title", "desc"]) {
        let found = svg
            .children()
            .find(|node| node.attribute("id") == Some(label))
            .unwrap();
        assert_eq!(found.tag_name().name(), name);
    }
    let view: Vec<f64> = svg
        .attribute("viewBox")
        .unwrap()
        .split(' ')
        .map(|part| part.parse().unwrap())
        .collect();
    let known = [
        "svg",
        "title",
        "desc",
        "defs",
        "pattern",
        "linearGradient",
        "stop",
        "rect",
        "path",
        "text",
        "g",
    ];
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        assert!(known.contains(&name), "<{name}>");
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(
                !name.starts_with("on") && !name.contains("href") && name != "style",
                "{name}={value}"
            );
            let number = !matches!(name, "data-case" | "data-series" | "aria-labelledby" | "id");
            assert!(
                !number || !(value.contains("NaN") || value.contains("inf")),
                "{name}={value}"
            );
        }
        if name == "text" {
            let [left, top, right, lower] = extent(node);
            let inside = left >= -0.5 && top >= -0.5 && right <= view[2] + 0.5 && lower <= view[3];
            assert!(
                inside,
                "{:?} at {:?} in {view:?}",
                node.text(),
                extent(node)
            );
        }
        if name == "g" {
            let title = node.children().find(Node::is_element).unwrap();
            assert_eq!(title.tag_name().name(), "title");
            assert!(node.attribute("data-mark").is_some());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_is_in_it_a_picture_is_sound(chart in charts()) {
        for theme in [Theme::Light, Theme::Dark] {
            let text = svg::draw(&chart, theme);
            check(&text);
            prop_assert_eq!(&text, &svg::draw(&chart.clone(), theme));
        }
        for columns in [0, 40, 80, 300] {
            let plain = terminal::draw(&chart, Signs::Ascii, columns);
            prop_assert!(plain.is_ascii(), "{plain}");
            let text = terminal::draw(&chart, Signs::Unicode, columns);
            for line in text.lines().chain(plain.lines()) {
                let width = unicode_width::UnicodeWidthStr::width(line);
                prop_assert!(width <= columns.clamp(40, 110), "{line}");
                prop_assert!(!line.contains(char::is_control));
            }
        }
    }
}

/// A row for each way a figure can be had.
fn every_fill() -> Chart {
    let row = |number: usize| RowText {
        label: format!("device {number}"),
        value: "7.9 ms".to_owned(),
    };
    let dot = |number: usize| {
        Mark::Dot(Dot {
            x: 0.0079,
            y: number as f64,
            interval: None,
            series: 0,
            fill: FILLS[number],
            about: About {
                case: Some(format!("rsa2048 sign device {number} raw")),
                text: "7.9 ms".to_owned(),
            },
        })
    };
    Chart {
        kind: "means",
        title: "Every fill".to_owned(),
        summary: "Five dots.".to_owned(),
        x: Scale::new("time", Unit::Seconds, Spacing::Logarithmic),
        panels: vec![Panel {
            heading: None,
            y: Axis::Rows(vec![Group {
                heading: None,
                rows: (0..5).map(row).collect(),
            }]),
            height: 0.0,
            marks: (0..5).map(dot).collect(),
        }],
        keys: Vec::new(),
        fills: Vec::new(),
        notes: Vec::new(),
    }
}

#[test]
fn how_a_figure_was_had_is_seen_without_colour() {
    let text = svg::draw(&every_fill(), Theme::Light);
    let document = Document::parse(&text).unwrap();
    let dots = document
        .descendants()
        .filter(|node| node.attribute("data-mark") == Some("dot"));
    let looks: Vec<(String, Option<&str>)> = dots
        .map(|dot| {
            let path = dot.children().rfind(Node::is_element).unwrap();
            let fill = path.attribute("fill").unwrap();
            // The kind of a pattern; a color is also one.
            let fill = if fill.starts_with("url") {
                fill.split('-').nth(1).unwrap().to_owned()
            } else {
                (fill == "#ffffff").to_string()
            };
            (fill, path.attribute("stroke-dasharray"))
        })
        .collect();
    for (number, look) in looks.iter().enumerate() {
        assert!(!looks[..number].contains(look), "{looks:?}");
    }
    for signs in [Signs::Unicode, Signs::Ascii] {
        let text = terminal::draw(&every_fill(), signs, 80);
        let rows = text
            .lines()
            .filter(|line| line.trim_start().starts_with("device"));
        let marks: std::collections::BTreeSet<String> = rows
            .map(|row| row.split_whitespace().nth(2).unwrap().to_owned())
            .collect();
        assert_eq!(marks.len(), 5, "{text}");
    }
}
