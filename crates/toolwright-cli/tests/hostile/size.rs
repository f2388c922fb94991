//! Tests large inputs: each succeeds or gives an error with a position, within limits of time and memory.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use crate::child::{Ended, Limits, toolwright};
use crate::imports::{APIS, LISTS};
use crate::inputs::{CASES, Case};

/// The limits of a child process. Those of time only detect hangs, because machines differ and a development build is slower.
const LIMITS: Limits = if cfg!(debug_assertions) {
    Limits { cpu_seconds: 60, megabytes: 1024 }
} else {
    Limits { cpu_seconds: 10, megabytes: 256 }
};

/// Comparing takes more memory, as it searches for values that show the changes.
const LOCK_LIMITS: Limits =
    if cfg!(debug_assertions) { LIMITS } else { Limits { cpu_seconds: 10, megabytes: 512 } };

/// The input that uses up the steps for checking examples, which is the most work that `check` may do for a short input.
const REFERENCE: &str = "an example that is long to match";

/// The CPU time of a release build on [`REFERENCE`], in seconds.
static REFERENCE_SECONDS: LazyLock<f64> = LazyLock::new(|| {
    let case = CASES.iter().find(|case| case.name == REFERENCE).expect("the reference is a case");
    measure(case).ended.cpu.as_secs_f64()
});

/// The most CPU time of a release build for checking a schema, as a multiple of [`REFERENCE_SECONDS`].
const MAX_CHECK: f64 = 1.5;

/// The same for importing a document.
const MAX_IMPORT: f64 = 3.0;

/// The same for comparing a lock, or checking a large configuration.
const MAX_LOCK: f64 = 8.0;

/// Returns whether a release build took longer than some multiple of [`REFERENCE_SECONDS`].
fn is_slow(ended: &Ended, multiple: f64) -> bool {
    !cfg!(debug_assertions) && ended.cpu.as_secs_f64() > multiple * *REFERENCE_SECONDS
}

struct Measured {
    case: &'static Case,
    bytes: usize,
    ended: Ended,
}

fn measure(case: &'static Case) -> Measured {
    let folder = tempfile::tempdir().unwrap();
    let text = (case.text)();
    fs::write(folder.path().join("a.yaml"), &text).unwrap();
    let ended = toolwright(folder.path(), &["check", "a.yaml"], LIMITS);
    Measured { case, bytes: text.len(), ended }
}

impl Measured {
    /// Describes how the result differs from the expected one.
    fn complaint(&self) -> Option<String> {
        let Self { case, ended, .. } = self;
        let is_as_expected = match case.expected {
            "" => ended.status.code() == Some(0),
            code => {
                let is_placed = ended.printed.contains("a.yaml");
                let words = format!("error[{code}]");
                ended.status.code() == Some(1) && ended.printed.contains(&words) && is_placed
            }
        };
        let printed: String = ended.printed.chars().take(300).collect();
        (!is_as_expected || is_slow(ended, MAX_CHECK)).then(|| {
            let expected = if case.expected.is_empty() { "success" } else { case.expected };
            let (how, cpu) = (ended.how(), ended.cpu);
            format!("{}: expected {expected}, found {how} after {cpu:?}: {printed}", case.name)
        })
    }

    fn row(&self) -> String {
        let outcome = match self.case.expected {
            "" => "accepted".to_owned(),
            code => format!("`{code}`"),
        };
        format!(
            "| {} | {} | {outcome} | {:.2} s | {} |",
            self.case.name,
            size(self.bytes),
            self.ended.cpu.as_secs_f64(),
            memory(self.ended.peak_megabytes)
        )
    }
}

fn size(bytes: usize) -> String {
    if bytes < 1 << 20 { format!("{} kB", bytes >> 10) } else { format!("{} MB", bytes >> 20) }
}

/// Describes the peak of a process. That of a short one may not have been seen.
fn memory(megabytes: u64) -> String {
    if megabytes < 10 { "under 10 MB".to_owned() } else { format!("{megabytes} MB") }
}

/// `cargo xtask hostile` sets the variable for a release build.
#[test]
fn every_large_schema_succeeds_or_gives_an_error_with_a_position() {
    let mut complaints = Vec::new();
    let mut table = String::new();
    for case in CASES {
        let measured = measure(case);
        complaints.extend(measured.complaint());
        writeln!(table, "{}", measured.row()).unwrap();
    }
    assert_eq!(complaints, Vec::<String>::new(), "{}", complaints.join("\n\n"));
    if let Some(page) = std::env::var_os("TOOLWRIGHT_SIZES_PAGE") {
        replace_table(Path::new(&page), &table);
    }
}

/// Replaces the rows of the table in a page.
fn replace_table(page: &Path, rows: &str) {
    const HEAD: &str = "| input | size | outcome | CPU time | memory |\n|---|---|---|---|---|\n";
    let text = fs::read_to_string(page).unwrap();
    let (before, after) = text.split_once(HEAD).expect("the page has the table");
    let rest = after.find("\n\n").map_or("", |end| &after[end..]);
    fs::write(page, format!("{before}{HEAD}{}{rest}", rows.trim_end())).unwrap();
}

#[test]
fn every_large_tool_list_gives_a_schema_or_an_error() {
    import(LISTS, &["import", "mcp", "--toolset", "t", "--tools-json"]);
}

#[test]
fn every_large_openapi_document_gives_a_schema_or_an_error() {
    import(APIS, &["import", "openapi", "--toolset", "t", "--by-tag"]);
}

/// Imports the text of each case. The name of its file ends the arguments.
fn import(cases: &'static [Case], arguments: &[&str]) {
    for case in cases {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("input.json"), (case.text)()).unwrap();
        let arguments = [arguments, &["input.json", "--service", "a", "--out", "a.yaml"]].concat();
        let ended = toolwright(folder.path(), &arguments, LIMITS);
        let (code, word) =
            if case.expected.is_empty() { (0, "import: ") } else { (1, case.expected) };
        let printed: String = ended.printed.chars().take(300).collect();
        assert_eq!(ended.status.code(), Some(code), "{}: {} {printed}", case.name, ended.how());
        assert!(!is_slow(&ended, MAX_IMPORT), "{}: {:?}", case.name, ended.cpu);
        assert!(ended.printed.contains(word), "{}: {printed}", case.name);
        assert_eq!(folder.path().join("a.yaml").exists(), code == 0, "{}", case.name);
    }
}

/// Large locks of ten tools: for each tool its arguments now, its members in the lock, and tools that are gone since.
const LOCKS: [(&str, fn(usize) -> [String; 3]); 3] = [
    ("60,000 aliases", |tool| {
        let aliases: Vec<String> = (0..6_000).map(|name| format!("\"a{tool}_{name}\"")).collect();
        let members = format!(r#""aliases":[{}],"args":{{}},"#, aliases.join(","));
        ["type: object".to_owned(), members, String::new()]
    }),
    ("10,000 other properties", |_| {
        let names = |letter| (0..1_000).map(move |name| format!("{letter}{name}"));
        let object = |names: &mut dyn Iterator<Item = String>| {
            let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
            let properties: Vec<String> =
                names.iter().map(|name| format!("{name}: {{}}")).collect();
            let (properties, required) = (properties.join(", "), names.join(", "));
            format!(r#""type": "object", "properties": {{{properties}}}, "required": [{required}]"#)
        };
        let members = format!(r#""args":{{{}}},"#, object(&mut names("p")));
        [object(&mut names("q")), members, String::new()]
    }),
    ("9,000 tools that are gone", |tool| {
        let gone =
            r#"{"toolset":"t","description":"X.","args":{},"result":{},"implementation":{}}"#;
        let gone: Vec<String> =
            (0..900).map(|name| format!(",\"g{tool}_{name}\":{gone}")).collect();
        ["type: object".to_owned(), r#""args":{},"#.to_owned(), gone.concat()]
    }),
];

#[test]
fn every_large_lock_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("toolwright.toml", "[project]\nschema = \"a.yaml\"\n");
    for (name, parts) in LOCKS {
        let mut schema =
            "toolwright: 1\nservice: a\ntoolsets:\n  t:\n    description: T.\n    tools:\n"
                .to_owned();
        let mut tools = Vec::new();
        for tool in 0..10 {
            let [args, members, gone] = parts(tool);
            writeln!(
                schema,
                "      find{tool}: {{ description: Finds., args: {{ {args} }}, result: {{}} }}"
            )
            .unwrap();
            tools.push(format!(
                r#""find{tool}":{{"toolset":"t","description":"Finds.",{members}"result":{{}},
                "implementation":{{"external":""}}}}{gone}"#
            ));
        }
        let lock = format!(
            r#"{{"lock":1,"language":1,"toolsets":{{"t":{{"service":"a"}}}},"tools":{{{}}},"names":{{}}}}"#,
            tools.join(",")
        );
        assert!(lock.len() < 1 << 20, "{name}");
        write("a.yaml", &schema);
        write("toolwright.lock", &lock);
        for format in ["human", "sarif"] {
            let ended = toolwright(folder.path(), &["breaking", "--format", format], LOCK_LIMITS);
            let printed: String = ended.printed.chars().take(300).collect();
            assert_eq!(
                ended.status.code(),
                Some(1),
                "{name}, {format}: {}: {printed}",
                ended.how()
            );
            assert!(!printed.contains("breaking: "), "{name}, {format}: {printed}");
            assert!(!is_slow(&ended, MAX_LOCK), "{name}, {format}: {:?}", ended.cpu);
        }
    }
}

/// Projects with so many tools, dialects of their own, mentions of their file, and exceptions for tools that do not exist, and what
/// is found.
const CONFIGURATIONS: [(usize, usize, usize, usize, &str); 4] = [
    (250, 100, 1, 0, "projecting the tools for the targets costs more than 1000000 schemas"),
    (1, 20_000, 1, 0, "found 20000 dialects, expected at most"),
    (1, 400, 1_000, 0, "rows.toml: the file is listed twice"),
    (8_000, 1, 1, 8_000, "6000 more findings are not shown"),
];

#[test]
fn every_large_configuration_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let properties: Vec<String> = (0..1_900).map(|name| format!("p{name}: {{}}")).collect();
    let types = format!("Large: {{ type: object, properties: {{ {} }} }}", properties.join(", "));
    for (tools, dialects, mentions, exceptions, expected) in CONFIGURATIONS {
        let args = if dialects > 1 { "Large" } else { "{ type: object }" };
        let tool = |tool| format!("      find{tool}: {{ description: Finds., args: {args} }}\n");
        let tools: String = (0..tools).map(tool).collect();
        let start = format!("toolwright: 1\nservice: a\ntypes:\n  {types}\n");
        write("a.yaml", &format!("{start}toolsets:\n  t:\n    tools:\n{tools}"));
        let row = |row| {
            format!(
                "[[dialect]]\nid = \"r{row}\"\nasof = \"2026-01\"\ninherits = \"openai-chat-strict\"\n\
                 confidence = \"D\"\nevidence = [\"D\"]\n"
            )
        };
        write("rows.toml", &(0..dialects).map(row).collect::<String>());
        let targets: Vec<String> = (0..dialects).map(|row| format!("\"r{row}\"")).collect();
        let exception = |tool| format!("tools.find_{tool}.because = \"Since.\"\n");
        let exceptions: String = (0..exceptions).map(exception).collect();
        let configuration = format!(
            "[project]\nschema = \"a.yaml\"\n[dialects]\nfiles = [{}]\ntargets = [{}]\n{exceptions}",
            vec!["\"rows.toml\""; mentions].join(", "),
            targets.join(", ")
        );
        write("toolwright.toml", &configuration);
        let ended = toolwright(folder.path(), &["check"], LOCK_LIMITS);
        let printed: String = ended.printed.chars().take(300).collect();
        assert_eq!(ended.status.code(), Some(1), "{}: {printed}", ended.how());
        assert!(ended.printed.contains(expected), "{expected}: {printed}");
        assert!(!is_slow(&ended, MAX_LOCK), "{expected}: {:?}", ended.cpu);
    }
}
