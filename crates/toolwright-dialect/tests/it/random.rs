//! Projects random schemas into every dialect, and checks the laws on the results.

use fastrand::Rng;
use toolwright_dialect::{Dialect, Policy, Subject, project};

use crate::laws::Laws;

/// The number of canonical values that are tried with each schema; about half of them are valid.
const VALUES: usize = 16;

#[test]
fn projections_of_random_schemas_keep_the_laws() {
    // A thousand take minutes.
    let count = std::env::var("TOOLWRIGHT_RANDOM_SCHEMAS");
    let count = count.map_or(60, |count| count.parse().unwrap());
    let mut rng = Rng::with_seed(19);
    let policy = Policy::default();
    let mut tried = 0;
    let mut broken = Vec::new();
    while tried < count {
        let schema = toolwright_judge::arguments(&mut rng);
        let text = schema.to_string();
        let Ok(laws) = Laws::of(&text) else { continue };
        tried += 1;
        let mut valid = toolwright_judge::payloads(&schema, VALUES, &mut rng);
        valid.retain(|value| laws.accepts(value));
        let subject = Subject { name: "tool", description: "", args: &text };
        for dialect in Dialect::all() {
            let found = project(&subject, dialect, &policy);
            let faults = laws.broken(dialect, &found, &valid).into_iter();
            broken.extend(faults.take(2).map(|fault| (text.clone(), dialect.id(), fault)));
        }
    }
    let total = broken.len();
    broken.sort_by_key(|(schema, ..)| schema.len());
    for (schema, dialect, fault) in broken.into_iter().take(40) {
        eprintln!("{dialect}: {schema}\n    {fault}");
    }
    assert_eq!(total, 0);
}
