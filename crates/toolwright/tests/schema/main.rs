//! The official suite of JSON Schema.

use std::fs;
use std::path::Path;
use toolwright::Value;
use toolwright::schema::Schema;

#[test]
fn suite() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/corpus/json-schema-test-suite/tests/draft2020-12");
    let (mut right, mut wrong, mut refused) = (0, Vec::new(), Vec::new());
    let mut dirs = vec![root];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let Ok(groups) = text.parse::<Value>() else {
                println!("unread {path:?}");
                continue;
            };
            for group in groups.as_array().unwrap() {
                let schema = group.get("schema").unwrap().to_string();
                let name = format!(
                    "{} / {}",
                    path.file_name().unwrap().to_string_lossy(),
                    group.get("description").unwrap()
                );
                let schema = match Schema::new(&schema) {
                    Ok(s) => s,
                    Err(e) => {
                        refused.push(format!("{name}: {e}"));
                        continue;
                    }
                };
                for test in group.get("tests").unwrap().as_array().unwrap() {
                    let data = test.get("data").unwrap().to_string();
                    let valid = test.get("valid").unwrap().as_bool().unwrap();
                    let found = schema.check(data.as_bytes());
                    if found.is_ok() == valid {
                        right += 1
                    } else {
                        wrong.push(format!(
                            "{name} / {}: {data}: {found:?}",
                            test.get("description").unwrap()
                        ))
                    }
                    if let Err(e) = found {
                        assert!(!e.issues().is_empty(), "{name}");
                    }
                }
            }
        }
    }
    println!(
        "right {right}\nwrong {}\n{}\nrefused {}\n{}",
        wrong.len(),
        wrong.join("\n"),
        refused.len(),
        refused.join("\n")
    );
}
