//! Generated crates in a user's workspace, with crates that they depend on and crates that depend on them, built by cargo.

mod expect;

use std::fs;
use std::path::Path;
use std::process::Command;

use toolwright_codegen::project::{Mode, Project};

use expect::expect;

const CODEGEN: &str = env!("CARGO_MANIFEST_DIR");

/// A workspace with the crates in `crates` and the generated ones.
struct Workspace(tempfile::TempDir);

impl Workspace {
    fn new(files: &[(&str, &str)]) -> Self {
        let workspace = Self(tempfile::tempdir().unwrap());
        let manifest = format!(
            "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\", \"gen/*/service\", \"gen/*/tools/*\"]\n\
             [workspace.dependencies]\ntoolwright = {{ path = \"{CODEGEN}/../crates/toolwright\" }}\n"
        );
        workspace.put("Cargo.toml", &manifest);
        for (path, text) in files {
            workspace.put(path, text);
        }
        let lock = workspace.0.path().join("Cargo.lock");
        fs::copy(Path::new(CODEGEN).join("../Cargo.lock"), lock).unwrap();
        workspace
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Generates the crates and runs the tests of all crates.
    fn test(&self) {
        self.generate();
        let result = self.cargo(&["test", "--workspace"]);
        assert!(result.is_ok(), "{}", result.unwrap_err());
    }

    fn generate(&self) {
        Project::open(self.0.path()).unwrap().generate(Mode::Write).unwrap();
    }

    /// Runs cargo. All workspaces share their builds.
    ///
    /// # Errors
    ///
    /// Returns the output of a command that fails.
    fn cargo(&self, arguments: &[&str]) -> Result<(), String> {
        let output = Command::new(env!("CARGO"))
            .args(arguments)
            .args(["--quiet", "--offline"])
            .current_dir(self.0.path())
            .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("workspace"))
            .env("RUSTFLAGS", "-Dwarnings")
            .env("RUSTDOCFLAGS", "-Dwarnings")
            .output()
            .unwrap();
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        if output.status.success() { Ok(()) } else { Err(printed) }
    }
}

/// A user's derive macro, which implements a method `mark`.
const MARKS: &str = r#"
use proc_macro::{TokenStream, TokenTree};

#[proc_macro_derive(Marked)]
pub fn marked(item: TokenStream) -> TokenStream {
    let mut tokens = item.into_iter().skip_while(|token| {
        !matches!(token, TokenTree::Ident(word) if ["struct", "enum"].contains(&&*word.to_string()))
    });
    let name = tokens.nth(1).unwrap();
    format!("impl {name} {{ pub fn mark() -> &'static str {{ \"{name}\" }} }}").parse().unwrap()
}
"#;

#[test]
fn generated_types_derive_macros_of_other_crates() {
    let workspace = Workspace::new(&[
        (
            "toolwright.toml",
            "[rust]\nderive = [\"marks::Marked\"]\n[rust.dependencies]\nmarks = { path = \"crates/marks\" }\n\
             [crates]\ntoolwright = { workspace = true }\n",
        ),
        (
            "schema/desk.yaml",
            "toolwright: 1
service: desk
types:
  Title: { type: string, maxLength: 9 }
  Note: { type: object, properties: { title: { $ref: Title }, kind: { enum: [a, b] }, at: { anyOf: [{ type: string },
    { type: object, properties: { year: { type: integer } } }] }, done: { const: true } } }
toolsets: { notes: { tools: { put_note: { description: Puts a note., args: Note } } } }
",
        ),
        (
            "crates/marks/Cargo.toml",
            "[package]\nname = \"marks\"\nedition = \"2024\"\n[lib]\nproc-macro = true\n",
        ),
        ("crates/marks/src/lib.rs", MARKS),
        (
            "crates/user/Cargo.toml",
            "[package]\nname = \"user\"\nedition = \"2024\"\n[dependencies]\ndesk-service = { path = \"../../gen/desk/service\" }\n",
        ),
        (
            "crates/user/src/lib.rs",
            "#[test]
fn types_are_marked() {
    use desk_service::types::{Note, NoteAt, NoteKind, Title};
    assert_eq!([Note::mark(), NoteAt::mark(), NoteKind::mark(), Title::mark()], [\"Note\", \"NoteAt\", \"NoteKind\", \"Title\"]);
}
",
        ),
    ]);
    workspace.test();
}

/// A crate of domain types, which replace generated types.
const MONEY: &str = r#"
use toolwright::codec::DomainType;
use toolwright::format::Date;

/// Cents, up to a million.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(pub i64);

impl DomainType for Money {
    type Json = String;

    fn from_json(json: String) -> Result<Self, String> {
        let cents: i64 = json.replace('.', "").parse().map_err(|_| "is not an amount".to_owned())?;
        if cents > 100_000_000 { Err("is more than a million".to_owned()) } else { Ok(Self(cents)) }
    }

    fn to_json(&self) -> String {
        format!("{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// A type with only the required traits.
#[derive(Clone, Debug, PartialEq)]
pub struct Day(pub Date);

impl DomainType for Day {
    type Json = Date;

    fn from_json(json: Date) -> Result<Self, String> {
        Ok(Self(json))
    }

    fn to_json(&self) -> Date {
        self.0.clone()
    }
}

macro_rules! domain_type {
    ($($name:ident: $json:ty,)+) => {$(
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(pub $json);

        impl DomainType for $name {
            type Json = $json;

            fn from_json(json: $json) -> Result<Self, String> {
                Ok(Self(json))
            }

            fn to_json(&self) -> $json {
                self.0.clone()
            }
        }
    )+};
}

domain_type! {
    RunId: String,
    Level: i64,
    Rate: f64,
    Yes: bool,
    Tags: Vec<String>,
    Labels: toolwright::Map<i64>,
    Extra: toolwright::Value,
    Even: i64,
    Octet: u8,
}
"#;

const BILLING: &str = r"toolwright: 1
service: billing
types:
  Money: { type: string, pattern: '^[0-9]{1,9}[.][0-9]{2}$', description: An amount., default: '0.00' }
  Price: { $ref: Money }
  Tip: { $ref: Money, maxLength: 4 }
  RunId: { type: string, minLength: 2 }
  Level: { type: integer, minimum: -5, maximum: 10 }
  Rate: { type: number, minimum: 0 }
  Flag: { type: boolean }
  Tags: { type: array, maxItems: 2, items: { type: string, maxLength: 3 } }
  Labels: { type: object, maxProperties: 1, additionalProperties: { type: integer } }
  Extra: {}
  Even: { type: integer, multipleOf: 2 }
  Octet: { type: integer, minimum: 0, maximum: 255 }
  Day: { type: string, format: date }
  Wallet: { type: object, required: [money], additionalProperties: false, properties: { money: { $ref: Money } } }
  Order:
    type: object
    additionalProperties: { $ref: Price }
    required: [total, tip, paid]
    properties:
      total: { $ref: Money }
      tip: { $ref: Tip }
      paid: { anyOf: [{ $ref: Money }, { type: 'null' }] }
      back: { anyOf: [{ $ref: Money }, { type: 'null' }] }
      price: { $ref: Price }
      fee: { $ref: Money, default: '1.00' }
      parts: { type: array, uniqueItems: true, items: { $ref: Money } }
      cost: { anyOf: [{ $ref: Money }, { type: integer }] }
      pair: { type: array, prefixItems: [{ $ref: Day }, { $ref: Money }], items: false, minItems: 2 }
      inner: { $ref: Order }
      level: { $ref: Level }
      rate: { $ref: Rate }
      flag: { $ref: Flag }
      tags: { $ref: Tags }
      labels: { $ref: Labels }
      extra: { $ref: Extra }
      even: { $ref: Even }
      octet: { $ref: Octet }
methods:
  place:
    payload: { type: object, required: [run, total], properties: { run: { $ref: RunId }, total: { $ref: Money } } }
    result: Wallet
    errors: { dear: { payload: { type: object, required: [amount], properties: { amount: { $ref: Price } } },
      message: '{amount} is dear' } }
toolsets:
  billing:
    tools:
      place: { description: Places., bind: place, inject: { run: run_id } }
      show: { description: Shows., args: { type: object, required: [total, even], properties: { total: { $ref: Price },
        even: { $ref: Even } } }, result: { type: array, items: { $ref: Money } } }
";

const BILLING_CONFIG: &str = r#"
[rust.types."billing.Money"]
type = "money::Money"
traits = ["Copy", "Eq", "Hash", "Ord", "Default"]
[rust.types]
"billing.RunId" = { type = "money::RunId" }
"billing.Level" = { type = "money::Level" }
"billing.Rate" = { type = "money::Rate" }
"billing.Flag" = { type = "money::Yes" }
"billing.Tags" = { type = "money::Tags" }
"billing.Labels" = { type = "::money::Labels" }
"billing.Extra" = { type = "money::Extra" }
"billing.Even" = { type = "money::Even" }
"billing.Octet" = { type = "money::Octet" }
"billing.Day" = { type = "money::Day" }
[rust.dependencies]
money = { path = "crates/money" }
[package]
vectors = true
[crates]
toolwright = { workspace = true }
"#;

const BILLING_USER: &str = r##"
#![cfg(test)]

use std::sync::Arc;

use billing_service::errors::PlaceError;
use billing_service::service::BillingService;
use billing_service::types::{Money, Order, OrderCost, PlaceDear, PlacePayload, Tip, Wallet};
use billing_tools::executor::BillingExecutor;
use billing_tools::specs;
use billing_tools::types::{PlaceArgs, ShowArgs};
use toolwright::codec::{DomainType, from_json, to_json};
use toolwright::{InvalidPayload, MethodError, testing};

fn issues(found: InvalidPayload) -> Vec<String> {
    found.issues().iter().map(|issue| format!("{} {} {issue}", issue.pointer(), issue.code())).collect()
}

const ORDER: &str = r#"{"total":"1.00","tip":"0.50","paid":null,"back":null,"price":"2.00","parts":["1.00","2.00"],"cost":"3.00","pair":["2026-01-31","4.00"],"inner":{"total":"5.00","tip":"0.05","paid":"6.00"},"level":-5,"rate":0.5,"flag":true,"tags":["a"],"labels":{"b":1},"extra":[null],"even":4,"octet":255,"other":"7.00"}"#;

#[test]
fn domain_types_are_decoded_and_encoded() {
    let order: Order = from_json(ORDER.as_bytes()).unwrap();
    assert_eq!(to_json(&order).unwrap(), ORDER);
    let total: money::Money = order.total;
    assert_eq!((total, order.price, order.tip.0), (Money(100), Some(Money(200)), Money(50)));
    assert_eq!(order.parts, Some(vec![Money(100), Money(200)]));
    assert_eq!(order.cost, Some(OrderCost::String(Money(300))));
    assert_eq!(order.fee, None);
    assert_eq!(order.inner.unwrap().paid, Some(Money(600)));
    assert_eq!(order.additional.get("other"), Some(&Money(700)));
    assert_eq!(Wallet::default(), Wallet { money: Money(0) });
    let copied = Wallet { money: Money(1) };
    let both = [copied, copied];
    assert_eq!(both.iter().max(), Some(&copied));
    assert!(Tip::try_from(Money(1000)).is_err());
}

#[test]
fn errors_of_schemas_and_conversions_point_at_the_value() {
    let wrong = r#"{"total":"1","tip":"10.00","paid":"9000000.00","parts":["9000000.00","x"],"level":11,"tags":["a","b","c"],"even":3,"octet":256}"#;
    let found = issues(from_json::<Order>(wrong.as_bytes()).unwrap_err());
    let starts = [
        "/total pattern ",
        "/tip too_long ",
        "/paid refused `/paid`: is more than a million",
        "/parts/0 refused `/parts/0`: is more than a million",
        "/parts/1 pattern ",
        "/level above_maximum ",
        "/tags too_many_items ",
        "/even schema ",
        "/octet above_maximum ",
    ];
    let mut found = found;
    for start in starts {
        let at = found.iter().position(|issue| issue.starts_with(start));
        found.remove(at.unwrap_or_else(|| panic!("{start}: {found:?}")));
    }
    assert_eq!(found, Vec::<String>::new());

    let whole = Wallet { money: Money(100_000_000_000_000) };
    assert!(issues(to_json(&whole).unwrap_err())[0].starts_with("/money pattern "));
}

struct Shop;

impl BillingService for Shop {
    async fn place(&self, payload: PlacePayload) -> Result<Wallet, MethodError<PlaceError>> {
        assert_eq!(payload.run, money::RunId("run_1".to_owned()));
        if payload.total > Money(10_000) {
            let amount = payload.total;
            return Err(PlaceError::Dear(PlaceDear { amount, additional: toolwright::Map::new() }).into());
        }
        Ok(Wallet { money: payload.total })
    }
}

async fn run(total: Money, run_id: &str) -> String {
    let executor = Arc::new(BillingExecutor::new(Shop));
    let tools = testing::tools(|registrar| registrar.register(specs::ALL, executor));
    let args = PlaceArgs { total, additional: toolwright::Map::new() };
    match tools.with_run_id(run_id).run(specs::Place, &args).await {
        Ok(wallet) => wallet.money.to_json(),
        Err(failure) => failure.message,
    }
}

#[tokio::test]
async fn tools_accept_and_return_domain_types() {
    assert_eq!(run(Money(150), "run_1").await, "1.50");
    assert_eq!(run(Money(1_000_000), "run_1").await, "10000.00 is dear");
    // The caller cannot correct the id of the run.
    assert_eq!(run(Money(150), "r").await, "the tool failed internally");
    let args = r#"{"total":"1.0","even":1}"#;
    let found = issues(from_json::<ShowArgs>(args.as_bytes()).unwrap_err());
    assert!(found.len() == 2 && found[0].starts_with("/total pattern "), "{found:?}");
    assert!(found[1].starts_with("/even schema "), "{found:?}");
}
"##;

#[test]
fn domain_types_replace_named_types() {
    let workspace = Workspace::new(&[
        ("toolwright.toml", BILLING_CONFIG),
        ("schema/billing.yaml", BILLING),
        (
            "crates/money/Cargo.toml",
            "[package]\nname = \"money\"\nedition = \"2024\"\n[dependencies]\ntoolwright = { workspace = true }\n",
        ),
        ("crates/money/src/lib.rs", MONEY),
        (
            "crates/user/Cargo.toml",
            "[package]\nname = \"user\"\nedition = \"2024\"\n[dependencies]\ntoolwright = { workspace = true }\n\
             money = { path = \"../money\" }\nbilling-service = { path = \"../../gen/billing/service\" }\n\
             billing-tools = { path = \"../../gen/billing/tools/billing\" }\n\
             [dev-dependencies]\ntoolwright = { workspace = true, features = [\"testing\"] }\n\
             tokio = { version = \"1\", default-features = false, features = [\"macros\", \"rt\"] }\n",
        ),
        ("crates/user/src/lib.rs", BILLING_USER),
    ]);
    workspace.test();

    // A row that says the opposite is a mistake of the codec.
    let rows = workspace.0.path().join("gen/billing/tools/billing/vectors/show.jsonl");
    let text = fs::read_to_string(&rows).unwrap();
    fs::write(&rows, text.replacen("\"valid\":true", "\"valid\":false", 1)).unwrap();
    let vectors = ["test", "--package", "billing-tools", "--test", "vectors"];
    let printed = workspace.cargo(&vectors).unwrap_err();
    assert!(printed.contains("the codecs of `show` disagree with rows:\naccepted: {"), "{printed}");

    // The limits of a type such as `u8` are those of the schema, so no other type may be in its place.
    let wider = MONEY.replace("Octet: u8", "Octet: i64");
    fs::write(workspace.0.path().join("crates/money/src/lib.rs"), wider).unwrap();
    let printed = workspace.cargo(&["check", "--package", "billing-service"]).unwrap_err();
    assert!(printed.contains("`<Octet as DomainType>::Json == u8`"), "{printed}");
    // Nor may a type of another format.
    let other = MONEY.replace("format::Date;", "format::DateTime as Date;");
    fs::write(workspace.0.path().join("crates/money/src/lib.rs"), other).unwrap();
    let printed = workspace.cargo(&["check", "--package", "billing-service"]).unwrap_err();
    assert!(printed.contains("`<Day as DomainType>::Json == Date`"), "{printed}");
}

#[test]
fn generated_crates_can_be_used_without_json() {
    let workspace = Workspace::new(&[
        ("toolwright.toml", include_str!("consumer/toolwright.toml")),
        ("schema/tracker.yaml", include_str!("consumer/tracker.yaml")),
        (
            "crates/money/Cargo.toml",
            "[package]\nname = \"money\"\nedition = \"2024\"\n[dependencies]\ntoolwright = { workspace = true }\n",
        ),
        ("crates/money/src/lib.rs", include_str!("consumer/money.rs")),
        (
            "crates/user/Cargo.toml",
            "[package]\nname = \"user\"\nedition = \"2024\"\n[dependencies]\n\
             toolwright = { workspace = true, features = [\"chrono\", \"jiff\", \"time\", \"uuid\"] }\n\
             chrono = { version = \"0.4\", default-features = false }\njiff = { version = \"0.2\", default-features = false }\n\
             time = { version = \"0.3\", default-features = false }\nuuid = { version = \"1\", default-features = false }\n\
             money = { path = \"../money\" }\ntracker-service = { path = \"../../gen/tracker/service\" }\n\
             issues-tools = { path = \"../../gen/tracker/tools/issues\" }\n\
             statistics-tools = { path = \"../../gen/tracker/tools/statistics\" }\n\
             [dev-dependencies]\ntoolwright = { workspace = true, features = [\"testing\"] }\n\
             tokio = { version = \"1\", default-features = false, features = [\"macros\", \"rt\"] }\n",
        ),
        ("crates/user/src/lib.rs", include_str!("consumer/user.rs")),
        ("crates/user/tests/tools.rs", include_str!("consumer/tools.rs")),
    ]);
    workspace.test();
}

#[test]
fn types_that_may_grow_are_built_and_matched_in_other_crates() {
    let workspace = Workspace::new(&[
        ("toolwright.toml", include_str!("growing/toolwright.toml")),
        ("schema/ledger.yaml", include_str!("growing/ledger.yaml")),
        ("schema/audit.yaml", include_str!("growing/audit.yaml")),
        (
            "crates/user/Cargo.toml",
            "[package]\nname = \"user\"\nedition = \"2024\"\n[dependencies]\ntoolwright = { workspace = true }\n\
             ledger-service = { path = \"../../gen/ledger/service\" }\naudit-service = { path = \"../../gen/audit/service\" }\n\
             ledger-tools = { path = \"../../gen/ledger/tools/ledger\" }\naudit-tools = { path = \"../../gen/audit/tools/audit\" }\n\
             [dev-dependencies]\ntoolwright = { workspace = true, features = [\"testing\"] }\n\
             tokio = { version = \"1\", default-features = false, features = [\"macros\", \"rt\"] }\n",
        ),
        ("crates/user/src/lib.rs", include_str!("growing/user.rs")),
    ]);
    workspace.test();
    let mut wrong = Vec::new();
    for (file, expected) in
        [("service/src/types.rs", "types"), ("tools/ledger/src/transforms.rs", "transforms")]
    {
        let found = fs::read_to_string(workspace.0.path().join("gen/ledger").join(file)).unwrap();
        let path = Path::new(CODEGEN).join(format!("tests/growing/{expected}.expect"));
        expect(&path, &found, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let lint = workspace.cargo(&["clippy", "--workspace"]);
    assert_eq!(lint, Ok(()));
    for literal in [
        "ledger_service::types::Opened { by: String::new() }",
        "match ledger_service::types::State::Open { ledger_service::types::State::Open | ledger_service::types::State::Closed => {} }",
    ] {
        workspace
            .put("crates/user/src/lib.rs", &format!("pub fn wrong() {{ let _ = {literal}; }}\n"));
        let error = workspace.cargo(&["check", "-p", "user"]).unwrap_err();
        assert!(error.contains("error[E0639]") || error.contains("error[E0004]"), "{error}");
    }
}

#[test]
fn a_crate_without_the_feature_testing_has_no_fake() {
    let workspace = Workspace::new(&[
        ("toolwright.toml", "[crates]\ntoolwright = { workspace = true }\n"),
        (
            "schema/desk.yaml",
            "toolwright: 1\nservice: desk\nmethods: { sit: {} }\n\
             toolsets: { desk: { tools: { sit: { description: Sits., bind: sit } } } }\n",
        ),
        (
            "crates/user/Cargo.toml",
            "[package]\nname = \"user\"\nedition = \"2024\"\n[features]\ntesting = [\"toolwright/testing\"]\n\
             [dependencies]\ntoolwright = { workspace = true }\ndesk-service = { path = \"../../gen/desk/service\" }\n",
        ),
        ("crates/user/src/lib.rs", "pub use desk_service::service::FakeDeskService;\n"),
    ]);
    workspace.generate();
    let error = workspace.cargo(&["build", "-p", "user"]).unwrap_err();
    assert!(error.contains("no `FakeDeskService` in `service`"), "{error}");
    assert_eq!(workspace.cargo(&["build", "-p", "user", "--features", "testing"]), Ok(()));
}

/// With `-Dwarnings`, an import that nothing uses, a name in another style and an ambiguous link would be errors.
#[test]
fn generated_code_has_no_warnings_whatever_its_values_are_called() {
    let workspace = Workspace::new(&[
        ("toolwright.toml", "[crates]\ntoolwright = { workspace = true }\n"),
        ("crates/user/Cargo.toml", "[package]\nname = \"user\"\nedition = \"2024\"\n"),
        ("crates/user/src/lib.rs", ""),
        ("schema/door.yaml", include_str!("names/door.yaml")),
        ("schema/hall.yaml", include_str!("names/hall.yaml")),
        ("schema/guest.yaml", include_str!("names/guest.yaml")),
    ]);
    workspace.test();
    for arguments in [&["doc", "--workspace", "--no-deps"][..], &["clippy", "--workspace"]] {
        let result = workspace.cargo(arguments);
        assert!(result.is_ok(), "{}", result.unwrap_err());
    }
}

/// Payloads with injected properties of all types of strings, and with fields that the arguments hold in another way.
const INJECTED: &str = "toolwright: 1
service: clerk
types:
  Base: { type: string }
  Alias: { $ref: Base }
  Strict: { $ref: Base, minLength: 3 }
  Id: { type: string, format: uuid }
  Tree: { type: object, required: [run_id], properties: { run_id: { type: string }, next: { $ref: Tree } } }
  Texts:
    type: object
    required: [a, b, c, d, e, f, g, h]
    properties:
      a: { type: string }
      b: { type: string, format: hostname }
      c: { type: string, format: uuid }
      d: { type: string, format: date }
      e: { $ref: Alias }
      f: { $ref: Strict }
      g: { $ref: Id }
      h: { $ref: Alias, maxLength: 9 }
      i: { $ref: Alias }
      j: { $ref: Strict }
      k: { type: string, format: ipv4 }
  Plain: { type: object, required: [a, e], properties: { a: { type: string, format: hostname }, e: { $ref: Alias }, i: { $ref: Base } } }
";

#[test]
fn injected_properties_and_moved_fields_fit_their_types() {
    // The payload has 129 fields with those of its parts, so that it holds them in boxes.
    let fields: Vec<_> = (0..15).map(|n| format!("f{n}: {{ type: integer }}")).collect();
    let part = format!("{{ type: object, properties: {{ {} }} }}", fields.join(", "));
    let parts: Vec<_> = (0..8).map(|n| format!("  Part{n}: {part}\n")).collect();
    let uses: Vec<_> = (0..8).map(|n| format!("p{n}: {{ $ref: Part{n} }}")).collect();
    let tool = |name: &str, keys: &str| {
        let inject: Vec<_> = keys.split(' ').map(|key| format!("{key}: run_id")).collect();
        let inject = inject.join(", ");
        format!("  {name}: {{ description: Does., bind: {name}, inject: {{ {inject} }} }}\n      ")
    };
    let schema = format!(
        "{INJECTED}{}  Large: {{ type: object, required: [run_id], properties: {{ run_id: {{ type: string }}, {} }} }}
methods: {{ grow: {{ payload: Tree }}, fill: {{ payload: Texts }}, put: {{ payload: Plain }}, pack: {{ payload: Large }},
  c: {{ payload: Texts }}, f: {{ payload: Texts }}, g: {{ payload: Texts }}, h: {{ payload: Texts }}, j: {{ payload: Texts }} }}
toolsets:
  clerk:
    tools:
      {}",
        parts.concat(),
        uses.join(", "),
        [
            tool("grow", "run_id"),
            tool("fill", "a b c d e f g h i j k"),
            tool("put", "a e i"),
            tool("pack", "run_id"),
            tool("c", "c"),
            tool("f", "f"),
            tool("g", "g"),
            tool("h", "h"),
            tool("j", "j"),
        ]
        .concat(),
    );
    let workspace = Workspace::new(&[
        ("toolwright.toml", "[crates]\ntoolwright = { workspace = true }\n"),
        ("crates/user/Cargo.toml", "[package]\nname = \"user\"\nedition = \"2024\"\n"),
        ("crates/user/src/lib.rs", ""),
        ("schema/clerk.yaml", &schema),
    ]);
    workspace.generate();
    assert_eq!(workspace.cargo(&["check", "--workspace"]), Ok(()));
    let path = workspace.0.path().join("gen/clerk/tools/clerk/src/transforms.rs");
    let transforms = fs::read_to_string(path).unwrap();
    // All but `put` and `h`, whose fields are strings and newtypes of strings.
    assert_eq!(transforms.matches("reshape_args(").count(), 7, "{transforms}");
}
