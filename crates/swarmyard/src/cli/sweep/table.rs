//! The table of a sweep: one row for each run, in the order of the plan.
//!
//! In: rows. Out: named columns, and from them CSV (RFC 4180) or Parquet. The columns depend on the plan
//! alone, never on what came of the runs.

use super::one::{Ran, Row};
use super::plan::Plan;
use swarmyard::scene::sweep::quantity;

/// Named columns of the same length.
pub(super) struct Table {
    pub(super) columns: Vec<(String, Column)>,
}

/// The values of one column; `None` where there is nothing.
#[derive(Debug, PartialEq)]
pub(super) enum Column {
    Int(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
    Bool(Vec<Option<bool>>),
    Text(Vec<Option<String>>),
}

impl Table {
    pub(super) fn new(plan: &Plan, rows: &[Row]) -> Table {
        let mut table = Table { columns: Vec::new() };
        table.add("run", Column::Int((1..=rows.len() as i64).map(Some).collect()));
        for (k, axis) in plan.sweep.axes.iter().enumerate() {
            table.axis(&axis.key, rows.iter().map(|r| r.values[k].as_str()).collect());
        }
        table.add("seed", Column::Int(rows.iter().map(|r| i64::try_from(r.seed).ok()).collect()));
        let ran = |row: &Row| row.ran.as_ref().ok().cloned();
        let all: Vec<Option<Ran>> = rows.iter().map(ran).collect();
        let each = |of: &dyn Fn(&Ran) -> Option<f64>| {
            Column::Number(all.iter().map(|r| r.as_ref().and_then(of)).collect())
        };
        let count = |of: &dyn Fn(&Ran) -> usize| {
            Column::Int(all.iter().map(|r| r.as_ref().map(|r| of(r) as i64)).collect())
        };
        let truth = |of: &dyn Fn(&Ran) -> Option<bool>| {
            Column::Bool(all.iter().map(|r| r.as_ref().and_then(of)).collect())
        };
        for (k, measure) in plan.sweep.measures.iter().enumerate() {
            table.add(&measure.name, each(&|r| r.measures.get(k).copied().flatten()));
        }
        table.add("passed", truth(&|r| Some(r.passed())));
        table.add("met", count(&|r| r.met.iter().filter(|m| **m).count()));
        table.add("assertions", count(&|r| r.met.len()));
        for (k, name) in plan.asserts.iter().enumerate() {
            table.add(&format!("assert.{name}"), truth(&|r| r.met.get(k).copied()));
        }
        table.add("contacts", count(&|r| r.contacts as usize));
        table.add("end_s", each(&|r| Some(r.end_s)));
        let hashes = all.iter().map(|r| r.as_ref().map(|r| format!("{:016x}", r.hash)));
        table.add("hash", Column::Text(hashes.collect()));
        table.add("error", Column::Text(rows.iter().map(|r| r.ran.as_ref().err().cloned()).collect()));
        table
    }

    /// Plain numbers are numbers. Numbers with units stay as they are written, and have a second column in SI
    /// units.
    fn axis(&mut self, key: &str, values: Vec<&str>) {
        let numbers: Option<Vec<_>> = values.iter().map(|v| quantity(v)).collect();
        let texts = || Column::Text(values.iter().map(|v| Some((*v).to_owned())).collect());
        let Some(numbers) = numbers else { return self.add(key, texts()) };
        if numbers.iter().all(|n| n.unit.is_empty()) {
            let whole: Option<Vec<_>> = values.iter().map(|v| v.parse::<i64>().ok().map(Some)).collect();
            let column = whole
                .map_or_else(|| Column::Number(numbers.iter().map(|n| Some(n.x)).collect()), Column::Int);
            return self.add(key, column);
        }
        self.add(key, texts());
        self.add(&format!("{key}.si"), Column::Number(numbers.iter().map(|n| Some(n.si())).collect()));
    }

    /// Adds a column; a name that is taken gets a number.
    fn add(&mut self, name: &str, column: Column) {
        let taken = |name: &str| self.columns.iter().any(|c| c.0 == name);
        let numbered = (2..).map(|k| format!("{name}.{k}"));
        let name = std::iter::once(name.to_owned()).chain(numbered).find(|n| !taken(n));
        self.columns.extend(name.map(|name| (name, column)));
    }

    /// As RFC 4180 says, with a line of names. Truth is 1 or 0.
    pub(super) fn csv(&self) -> String {
        let rows = self.columns.first().map_or(0, |c| c.1.len());
        let mut text = String::new();
        let mut line = |cells: Vec<String>| {
            let quoted: Vec<String> = cells.iter().map(|c| cell(c)).collect();
            text += &quoted.join(",");
            text += "\r\n";
        };
        line(self.columns.iter().map(|c| c.0.clone()).collect());
        (0..rows).for_each(|k| line(self.columns.iter().map(|c| c.1.shown(k)).collect()));
        text
    }
}

impl Column {
    pub(super) fn len(&self) -> usize {
        match self {
            Column::Int(v) => v.len(),
            Column::Number(v) => v.len(),
            Column::Bool(v) => v.len(),
            Column::Text(v) => v.len(),
        }
    }

    fn shown(&self, k: usize) -> String {
        match self {
            Column::Int(v) => v[k].map(|x| x.to_string()),
            Column::Number(v) => v[k].map(|x| x.to_string()),
            Column::Bool(v) => v[k].map(|x| u8::from(x).to_string()),
            Column::Text(v) => v[k].clone(),
        }
        .unwrap_or_default()
    }
}

fn cell(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_as_rfc_4180_says() {
        let mut table = Table { columns: Vec::new() };
        table.add("a,b", Column::Text(vec![Some("say \"hi\"".into()), None]));
        table.add("n", Column::Number(vec![Some(0.1), None]));
        table.add("n", Column::Bool(vec![Some(true), Some(false)]));
        assert_eq!(table.csv(), "\"a,b\",n,n.2\r\n\"say \"\"hi\"\"\",0.1,1\r\n,,0\r\n");
    }

    #[test]
    fn axes_are_numbers_where_they_can_be() {
        let mut table = Table { columns: Vec::new() };
        table.axis("n", vec!["1", "20"]);
        table.axis("x", vec!["1", "2.5"]);
        table.axis("t", vec!["5ms", "1s"]);
        table.axis("w", vec!["1", "stop"]);
        let names: Vec<&str> = table.columns.iter().map(|c| c.0.as_str()).collect();
        assert_eq!(names, ["n", "x", "t", "t.si", "w"]);
        assert_eq!(table.columns[0].1, Column::Int(vec![Some(1), Some(20)]));
        assert_eq!(table.columns[1].1, Column::Number(vec![Some(1.0), Some(2.5)]));
        assert_eq!(table.columns[3].1, Column::Number(vec![Some(0.005), Some(1.0)]));
        assert!(matches!(table.columns[4].1, Column::Text(_)));
    }
}
