//! The header, the Python module and the document say what the rows say.

use super::{Arg, Field, Gives, News, PASSED, Row, SERVICES, calls};
use std::collections::BTreeSet;

const HEADER: &str = crate::compiler::SWARM_H;
const PYTHON: &str = include_str!("../../../../../sdk/python/swarm.py");
const DOCUMENT: &str = include_str!("../../../../../docs/cooperative-programs.md");

/// Functions of the header that have no row.
const FACTS: [&str; 9] = ["now", "me", "robots", "other", "message", "numbers", "uniform", "uniforms", "say"];

fn news() -> impl Iterator<Item = &'static News> {
    std::iter::once(PASSED).chain(SERVICES.iter().flat_map(|service| service.news))
}

/// All calls but the one that is there only for modules that were compiled long ago.
fn today() -> impl Iterator<Item = &'static Row> {
    calls().filter(|row| row.gives != Gives::Pending)
}

/// What a call is called in C and in Python.
fn name(row: &Row) -> &'static str {
    if row.gives == Gives::Coming { "pending" } else { row.word }
}

/// A row as C.
fn declaration(row: &Row) -> String {
    let mut takes: Vec<String> = row.takes.iter().map(in_c).collect();
    match row.gives {
        Gives::Point => takes.push("double *xy".to_owned()),
        Gives::Seen => takes.push("swarm_seen *out, int most".to_owned()),
        Gives::Numbers(name) => takes.push(format!("double *{name}, int most")),
        Gives::Any => takes.push("double *out, int most".to_owned()),
        Gives::Pending | Gives::Coming => takes.push("swarm_coming *out, int most".to_owned()),
        Gives::Bytes => takes.push("void *out, int most".to_owned()),
        Gives::Nothing | Gives::Number | Gives::Asked => {}
    }
    if takes.is_empty() {
        takes.push("void".to_owned());
    }
    let answer = if row.gives == Gives::Nothing { "void" } else { "int" };
    format!("SWARM_FROM(\"{}\") {answer} swarm_{}({});", row.word, name(row), takes.join(", "))
}

fn in_c(arg: &Arg) -> String {
    match arg {
        Arg::Real(name) | Arg::RealOr0(name) => format!("double {name}"),
        Arg::Whole(name) | Arg::Byte(name) => format!("int {name}"),
        Arg::Bytes(name) => format!("const void *{name}, int bytes"),
        Arg::Name(name) => format!("const char *{name}"),
        Arg::Reals(name) => format!("const double *{name}, int count"),
    }
}

/// News as a line.
fn told(news: &News) -> String {
    news.says.iter().fold(news.word.to_owned(), |line, field| match field {
        Field::A(name) | Field::X(name) | Field::Y(name) | Field::Text(name) => format!("{line} {name}"),
        Field::Hex => format!("{line} HEX"),
        Field::List(name) => format!("{line} N {name} …"),
    })
}

#[test]
fn the_header_declares_every_row_and_nothing_else() {
    for row in today() {
        let declaration = declaration(row);
        assert!(HEADER.contains(&declaration), "swarm.h has no `{declaration}`");
    }
    assert_eq!(HEADER.matches("SWARM_FROM(\"").count(), today().count() + FACTS.len());
    for fact in FACTS {
        assert!(HEADER.contains(&format!("SWARM_FROM(\"{fact}\")")), "{fact}");
    }
    for (kind, news) in (9..).zip(news()) {
        let constant = format!("SWARM_{} = {kind}", news.word.to_uppercase());
        assert!(news.kind == kind && HEADER.contains(&constant), "swarm.h has no `{constant}`");
    }
}

#[test]
fn the_python_module_has_every_call_and_every_event() {
    for row in today() {
        let method = format!("    def {}(self", name(row));
        let word = if row.word == "send_all" {
            "(\"send\", \"all\"".to_owned()
        } else {
            format!("(\"{}\"", row.word)
        };
        assert!(PYTHON.contains(&method) && PYTHON.contains(&word), "swarm.py has no `{}`", row.word);
    }
    for news in news() {
        assert!(
            PYTHON.contains(&format!("\"{}\": lambda", news.word)),
            "swarm.py does not know `{}`",
            news.word
        );
    }
}

#[test]
fn the_document_has_every_call_every_event_and_every_key() {
    for row in today() {
        let (line, name) = (format!("`{}`", row.line()), format!("`swarm_{}`", name(row)));
        assert!(DOCUMENT.contains(&line) && DOCUMENT.contains(&name), "no {line} or no {name}");
    }
    for news in news() {
        let (line, name) = (format!("`{}`", told(news)), format!("`SWARM_{}`", news.word.to_uppercase()));
        assert!(DOCUMENT.contains(&line) && DOCUMENT.contains(&name), "no {line} or no {name}");
    }
    for service in SERVICES {
        assert!(DOCUMENT.contains(&format!("| `{}`", service.kind.word())), "{:?}", service.kind);
    }
}

#[test]
fn no_two_rows_have_the_same_word_and_numbers_end_a_line() {
    let words: BTreeSet<&str> = calls().map(|row| row.word).chain(FACTS).collect();
    assert_eq!(words.len(), calls().count() + FACTS.len());
    for row in calls() {
        let list = row.takes.iter().position(|arg| matches!(arg, Arg::Reals(_)));
        assert!(list.is_none_or(|k| k + 1 == row.takes.len()), "{}", row.word);
    }
}
