//! Builds and matches types to which later versions may add fields and variants, outside of their crates.

#![cfg(test)]

use std::sync::Arc;

use audit_service::service::FakeAuditService;
use audit_service::types::Finding;
use audit_tools::specs::Report;
use ledger_service::errors::AddEntryError;
use ledger_service::service::{FakeLedgerService, LedgerService};
use ledger_service::types::{
    AddEntryPayload, AddEntryTaken, Change, Entry, Event, Filter, FindResult, Form, Key, Label,
    Level, Moved, Opened, Order, Span, SpanDays, SpanFrom, State,
};
use ledger_tools::specs::{AddEntry, Fill, Find};
use ledger_tools::types::AddEntryArgs;
use toolwright::codec::{Decode, Encode, from_json, to_json};
use toolwright::{DeclaredError, Map, MethodError, Nullable, Scope, Value, testing};

/// Encodes and decodes a value.
fn sent<T: Encode + Decode>(value: &T) -> T {
    let json = to_json(value).unwrap();
    from_json(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error:?}"))
}

fn label(text: &str) -> Label {
    Label::try_from(text).unwrap()
}

fn entry() -> Entry {
    Entry::new(1, label("milk"))
        .with_note("two")
        .with_site("https://example.com")
        .with_type(State::Closed)
        .with_self(true)
        .with_level(Level::N2)
        .with_closed(None)
        .with_parent(Entry::new(2, label("shop")))
        .with_event(Event::Moved(Moved::new(State::Closed)))
        .with_tags(vec![label("dairy")])
        .with_additional("more")
        .with_additional_properties(Map::from([("color", Value::from("red"))]))
}

#[test]
fn setters_set_every_field_that_the_constructor_does_not_take() {
    let entry = entry();
    assert_eq!(
        to_json(&entry).unwrap(),
        r#"{"id":1,"label":"milk","note":"two","site":"https://example.com","type":"closed","self":true,"level":2,"closed":null,"parent":{"id":2,"label":"shop","type":"open","level":1,"tags":[]},"event":{"kind":"moved","to":"closed"},"tags":["dairy"],"additional":"more","color":"red"}"#
    );
    assert_eq!(sent(&entry), entry);
    let closed = Entry::new(1, label("milk")).with_closed(Nullable::Value("today".to_owned()));
    assert_eq!(closed.closed, Some(Nullable::Value("today".to_owned())));
    let boxed = Entry::new(1, label("milk")).with_parent(Box::new(closed.clone()));
    assert_eq!(boxed.parent.as_deref(), Some(&closed));
}

#[test]
fn structs_have_a_constructor_whatever_number_of_fields_is_required() {
    assert_eq!(Filter::new(), Filter::default());
    let filter = Filter::new().with_state(State::Closed).with_order(Order::N1);
    assert_eq!(sent(&filter), filter);
    assert!(to_json(&Change::new()).is_err());
    let change = Change::new().with_note("new").with_key(Key::from(7));
    assert_eq!(sent(&change), change);
    let form = Form::new("a", 1, "c", 2, "e", 3, "g", 4).with_i("i");
    let form = form.with_additional(Map::from([("j", 5)]));
    assert_eq!(sent(&form), form);
    assert_eq!(
        Span::From(SpanFrom::new(1).with_to(2)),
        sent(&Span::From(SpanFrom::new(1).with_to(2)))
    );
    assert_eq!(Span::Days(SpanDays::new(1)), sent(&Span::Days(SpanDays::new(1))));
}

#[test]
fn enums_are_matched_with_an_arm_for_later_variants() {
    let words = |event: &Event| match event {
        Event::Opened(Opened { by, .. }) => format!("opened by {by}"),
        Event::Moved(Moved { to, .. }) => format!("moved to {to}"),
        _ => "unknown".to_owned(),
    };
    assert_eq!(words(&Event::from(Opened::new("Ann"))), "opened by Ann");
    assert_eq!(words(&Event::from(Moved::new(State::Open))), "moved to open");
    for state in State::ALL {
        assert_eq!(sent(state), *state);
    }
}

/// Keeps entries.
struct Ledger;

impl LedgerService for Ledger {
    async fn add_entry(
        &self,
        payload: AddEntryPayload,
    ) -> Result<Entry, MethodError<AddEntryError>> {
        let AddEntryPayload { run_id, label, note, session, additional, .. } = payload;
        assert_eq!((run_id.as_str(), session.as_str()), ("run_1", "session_1"));
        assert!(additional.get("run_id").is_none());
        match label.as_str() {
            "milk" => Err(AddEntryError::Taken(AddEntryTaken::new(label)))?,
            "" => Err(AddEntryError::Full)?,
            _ => Ok(Entry::new(1, label).with_note(note.unwrap_or_default())),
        }
    }

    async fn find(&self, filter: Filter) -> Result<FindResult, MethodError> {
        let found = Entry::new(1, label("tea")).with_type(filter.state);
        Ok(FindResult::new(vec![found]).with_span(Span::Days(SpanDays::new(3))))
    }

    async fn fill(&self, form: Form) -> Result<Change, MethodError> {
        Ok(Change::new().with_note(form.a))
    }
}

#[tokio::test]
async fn tools_convert_arguments_and_results_of_another_crate() {
    let tools = testing::tools(|registrar| ledger_tools::register(registrar, Ledger));
    let scope = Scope { session_id: Some("session_1".to_owned()), ..Scope::default() };
    let tools = tools.with_scope(scope).with_run_id("run_1");
    let added = tools.run(AddEntry, &AddEntryArgs::new(label("tea")).with_note("green")).await;
    assert_eq!(added.unwrap().note.as_deref(), Some("green"));
    let failure = tools.run(AddEntry, &AddEntryArgs::new(label("milk"))).await.unwrap_err();
    assert_eq!(failure.message, "milk is taken");
    let error = AddEntryError::from_failure(failure).unwrap();
    assert_eq!(error, AddEntryError::Taken(AddEntryTaken::new(label("milk"))));
    let found = tools.run(Find, &Filter::new().with_state(State::Closed)).await.unwrap();
    assert_eq!(found.entries[0].r#type, State::Closed);
    let change = tools.run(Fill, &Form::new("a", 1, "c", 2, "e", 3, "g", 4)).await.unwrap();
    assert_eq!(change.note.as_deref(), Some("a"));
}

#[tokio::test]
async fn fakes_return_and_record_such_types() {
    let audit = Arc::new(FakeAuditService::default());
    audit.report.returning(Ok(entry()));
    let tools = testing::tools(|registrar| audit_tools::register(registrar, Arc::clone(&audit)));
    let finding = Finding::new(entry()).with_event(Event::Opened(Opened::new("Ann")));
    assert_eq!(finding.state, State::Closed);
    assert_eq!(tools.run(Report, &finding).await.unwrap(), entry());
    assert_eq!(audit.report.calls(), [finding]);
    let ledger = FakeLedgerService::default();
    ledger.find.returning(Ok(FindResult::new(Vec::new())));
    assert_eq!(ledger.find(Filter::new()).await.unwrap().span, None);
}
