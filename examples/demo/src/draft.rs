//! Chooses the tasks for a goal by fixed rules, in place of a model.

/// A task and its minutes.
pub(crate) type Task = (&'static str, f64);

/// Kinds of goals: the words that they contain, and their tasks.
const KINDS: [(&[&str], &[Task]); 3] = [
    (
        &["release", "ship", "publish"],
        &[
            ("Agree on what goes in", 20.0),
            ("Run every test on a clean machine", 25.0),
            ("Write the release notes", 30.0),
            ("Tag and publish", 10.0),
            ("Tell the users", 15.0),
        ],
    ),
    (
        &["fix", "bug", "crash"],
        &[
            ("Reproduce it in a test", 30.0),
            ("Find the cause", 45.0),
            ("Fix the cause, not the symptom", 40.0),
            ("Look for its siblings", 20.0),
        ],
    ),
    (
        &["write", "draft", "document"],
        &[
            ("Say who will read it and why", 10.0),
            ("List what it must answer", 15.0),
            ("Write it in one go", 60.0),
            ("Have someone read it aloud", 20.0),
            ("Cut a third", 25.0),
        ],
    ),
];

/// The tasks of any other goal.
const ANYTHING: &[Task] = &[
    ("Write down what done looks like", 15.0),
    ("Do the smallest part that is of use", 45.0),
    ("Show it to someone", 20.0),
    ("Do the rest", 60.0),
];

/// The tasks of a goal, at most `limit`.
pub(crate) fn tasks(goal: &str, limit: usize) -> &'static [Task] {
    let goal = goal.to_lowercase();
    let kind = KINDS.iter().find(|(words, _)| words.iter().any(|word| goal.contains(word)));
    let tasks = kind.map_or(ANYTHING, |(_, tasks)| tasks);
    &tasks[..tasks.len().min(limit)]
}
