//! Reports on dialects and projections for people.

use toolwright::Value;
use toolwright::value::Map;
use toolwright_codegen::dialects::Dialects;
use toolwright_codegen::project::count;
use toolwright_dialect::{Class, Dialect, Loss, LossKind, Projection, Transform};

use super::{Format, Projector, PublishedTool, ToolInDialect, read, read_answer, tokens};
use crate::exit::Exit;
use crate::print::{self, table};

pub(super) fn list(dialects: &Dialects) -> Exit {
    let rows: Vec<[String; 4]> = dialects
        .all()
        .map(|dialect| {
            let mode = if dialect.is_strict() { "strict" } else { "plain" };
            [
                dialect.dated_id(),
                mode.to_owned(),
                dialect.confidence().to_string(),
                dialect.title().to_owned(),
            ]
        })
        .collect();
    table(["dialect", "mode", "known", "endpoint"], &rows);
    Exit::Success
}

pub(super) fn show(dialect: &Dialect) -> Exit {
    let mut lines = vec![dialect.dated_id(), dialect.title().to_owned(), String::new()];
    lines.push(format!("envelope    {}", dialect.envelope()));
    lines.extend(dialect.inherits().map(|parent| format!("adds to     {parent}")));
    lines.push(format!("plain form  {}", dialect.plain().id()));
    lines.push(format!("known       {}", dialect.confidence()));
    let limits = dialect.limits();
    let known = [
        ("tools", limits.tools),
        ("strict tools", limits.strict_tools),
        ("optional parameters", limits.optional_params),
        ("parameters with unions", limits.union_params),
        ("properties", limits.properties),
        ("levels", limits.depth),
        ("values of enums", limits.enum_values),
        ("bytes of definitions", limits.json_bytes),
    ];
    for (what, most) in known {
        lines.extend(most.map(|most| format!("limit       {most} {what}")));
    }
    lines.extend([String::new(), "rules, as keys of a row:".to_owned()]);
    let rules = dialect.rules().filter(|(key, _)| !["envelope", "limits"].contains(key));
    lines.extend(rules.map(|(key, value)| format!("  {key} = {value}")));
    let sources = "sources (D documented, O observed in an answer, S read in a client's source):";
    lines.extend([String::new(), sources.to_owned()]);
    lines.extend(dialect.evidence().iter().map(|source| format!("  {source}")));
    lines.extend(dialect.note().into_iter().flat_map(|note| ["", note].map(str::to_owned)));
    for line in lines {
        print::out_line(&line);
    }
    Exit::Success
}

pub(super) fn report(
    tools: &[PublishedTool],
    mut projector: Projector<'_>,
    selected: &[&Dialect],
    format: Format,
) -> Exit {
    // For each dialect, how many tools are in each class, and which are refused.
    let mut counts = vec![[0; 4]; selected.len()];
    let mut refused = vec![Vec::new(); selected.len()];
    let args = tools.iter().map(|tool| (tool, format!("`{}`", tool.name), read(tool)));
    let answers = tools.iter().filter_map(|tool| {
        Some((tool, format!("the result of `{}`", tool.name), read_answer(tool)?))
    });
    for (tool, what, subject) in args.chain(answers) {
        for (dialect, (counts, refused)) in selected.iter().zip(counts.iter_mut().zip(&mut refused))
        {
            let found = projector.project(tool, &subject, dialect);
            counts[found.class as usize] += 1;
            if format == Format::Json {
                print::out_json(&line(tool, dialect, &found).to_string());
            }
            if let Some(loss) = found.losses.iter().find(|loss| loss.kind == LossKind::Refused) {
                refused.push(format!(
                    "{}: {what} is refused at {}: it {}",
                    dialect.id(),
                    place(loss),
                    loss.now
                ));
            }
        }
    }
    let mut rows = Vec::new();
    for (dialect, counts) in selected.iter().zip(counts) {
        let mut row = [(); 5].map(|()| String::new());
        row[0] = dialect.dated_id();
        for (cell, count) in row[1..].iter_mut().zip(counts) {
            *cell = count.to_string();
        }
        rows.push(row);
    }
    if format == Format::Human {
        table(["dialect", "lossless", "widened", "narrowed", "refused"], &rows);
        for line in refused.into_iter().flatten() {
            print::out_line(&line);
        }
        print::out_line("`toolwright dialects why TOOL DIALECT` lists what a tool loses");
    }
    Exit::Success
}

/// A tool in a dialect as one JSON object.
fn line(tool: &PublishedTool, dialect: &Dialect, found: &Projection) -> Value {
    Value::Object(Map::from([
        ("dialect", Value::from(dialect.dated_id())),
        ("tool", Value::from(tool.name.as_str())),
        ("name", Value::from(found.wire_name.as_str())),
        ("class", Value::from(found.class.as_str())),
        ("losses", Value::Array(found.losses.iter().map(Loss::to_value).collect())),
        ("numbers", found.numbers.to_value()),
        ("tokens", tokens::estimate(found, dialect).to_value()),
    ]))
}

pub(super) fn why(tool: &ToolInDialect, dialect: &Dialect, found: &Projection) -> Exit {
    print::out_line(&format!("{} in {}: {}", tool.what(), dialect.dated_id(), found.class));
    let rows: Vec<[String; 5]> = found
        .losses
        .iter()
        .map(|loss| {
            let was = match (loss.kind, loss.was.is_null()) {
                (LossKind::Narrowing, true) => format!("(policy `{}`)", loss.keyword),
                (_, true) => loss.keyword.clone(),
                (_, false) => format!("{}: {}", loss.keyword, loss.was),
            };
            let at = if loss.at.is_empty() { "(root)" } else { &loss.at };
            [
                loss.kind.to_string(),
                loss.by.to_owned(),
                at.to_owned(),
                shortened(&was),
                shortened(&loss.now),
            ]
        })
        .collect();
    if !rows.is_empty() {
        table(["loss", "by", "at", "was", "now"], &rows);
    }
    let used = |transform: &&Transform| found.losses.iter().any(|loss| loss.by == transform.name);
    for (index, transform) in Transform::ALL.iter().filter(used).enumerate() {
        if index == 0 {
            print::out_line("");
        }
        print::out_line(&format!("{:<4} {} -> {}", transform.name, transform.from, transform.to));
    }
    Exit::Success
}

pub(super) fn schema(tool: &ToolInDialect, dialect: &Dialect, found: &Projection) -> Exit {
    if let Some(schema) = &found.wire_schema {
        print::out_json(schema);
        return Exit::Success;
    }
    if found.class != Class::Refused {
        print::err_line(&format!(
            "dialects: {} is sent without a schema in {}",
            tool.what(),
            dialect.id()
        ));
        return Exit::Success;
    }
    let reason = found.losses.iter().find(|loss| loss.kind == LossKind::Refused);
    let reason =
        reason.map_or(String::new(), |loss| format!(" at {}: it {}", place(loss), loss.now));
    print::err_line(&format!("dialects: {} refuses {}{reason}", dialect.id(), tool.what()));
    Exit::Rejected
}

/// Lists the keys of two rows that differ, then the tools that differ in them.
pub(super) fn diff(
    tools: &[PublishedTool],
    mut projector: Projector<'_>,
    rows: [&Dialect; 2],
) -> Exit {
    let [before, after] = rows.map(Dialect::dated_id);
    let keys: Vec<[String; 3]> = Dialect::differences(rows[0], rows[1])
        .into_iter()
        .map(|(key, values)| {
            let [before, after] = values.map(|value| shortened(&value.unwrap_or_default()));
            [key, before, after]
        })
        .collect();
    if keys.is_empty() {
        print::out_line(&format!("{before} and {after} have the same rules"));
    } else {
        table(["rule", &before, &after], &keys);
    }
    print::out_line("");
    let mut touched = Vec::new();
    for tool in tools {
        let subject = read(tool);
        let [one, other] = rows.map(|row| projector.project(tool, &subject, row));
        if (one.class, &one.wire_schema, &one.wire_name)
            != (other.class, &other.wire_schema, &other.wire_name)
        {
            touched.push([tool.name.clone(), one.class.to_string(), other.class.to_string()]);
        }
    }
    if touched.is_empty() {
        print::out_line(&format!("none of {} changes", count(tools.len(), "tool")));
    } else {
        table(["tool", &before, &after], &touched);
    }
    Exit::Success
}

/// Names the place of a loss in its schema.
fn place(loss: &Loss) -> String {
    if loss.at.is_empty() { "the root".to_owned() } else { format!("`{}`", loss.at) }
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        text.to_owned()
    } else {
        text.chars().take(LONGEST - 1).chain(['…']).collect()
    }
}
