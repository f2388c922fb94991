//! Stores the todos of each run in memory, by the id of the run, which is injected into each call.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use todos_service::errors::{GetTodosError, UpdateTodosError};
use todos_service::service::TodosService;
use todos_service::types::{
    GetTodosPayload, TodoItem, TodosSnapshot, TooManyTodos, UpdateMode, UpdateTodosPayload,
};
use toolwright::MethodError;

/// The maximum number of todos of a run, which is the limit of a snapshot in the schema.
const MOST_TODOS: usize = 500;

/// A store in memory. The first write fails as unavailable, so that the demo shows a retry.
#[derive(Default)]
pub(crate) struct MemoryStore {
    runs: Mutex<BTreeMap<String, Vec<TodoItem>>>,
    started: AtomicBool,
}

impl TodosService for MemoryStore {
    async fn update_todos(
        &self,
        payload: UpdateTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<UpdateTodosError>> {
        if !self.started.swap(true, Ordering::Relaxed) {
            return Err(UpdateTodosError::StoreUnavailable.into());
        }
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut todos = match payload.mode {
            UpdateMode::Replace => Vec::new(),
            UpdateMode::Merge => runs.get(&payload.run_id).cloned().unwrap_or_default(),
        };
        for item in payload.items {
            put(&mut todos, item);
        }
        if todos.len() > MOST_TODOS {
            let count = i64::try_from(todos.len())?;
            return Err(UpdateTodosError::TooManyTodos(TooManyTodos { count }).into());
        }
        runs.insert(payload.run_id, todos.clone());
        Ok(TodosSnapshot { items: todos })
    }

    /// Returns the todos of a run. An unknown run has none, which is not an error.
    async fn get_todos(
        &self,
        payload: GetTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<GetTodosError>> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let todos = runs.get(&payload.run_id).into_iter().flatten();
        let wanted = |item: &&TodoItem| payload.status.is_none_or(|status| item.status == status);
        Ok(TodosSnapshot { items: todos.filter(wanted).cloned().collect() })
    }
}

fn put(todos: &mut Vec<TodoItem>, item: TodoItem) {
    match todos.iter_mut().find(|known| known.id == item.id) {
        Some(known) => *known = item,
        None => todos.push(item),
    }
}

#[cfg(test)]
mod tests {
    use todos_service::types::TodoStatus;

    use super::*;

    fn merge(ids: std::ops::Range<usize>) -> UpdateTodosPayload {
        let todo = |id| TodoItem::new(format!("todo-{id}"), "Count", TodoStatus::Pending);
        let (run_id, items) = ("run_1".to_owned(), ids.map(todo).collect());
        UpdateTodosPayload { run_id, mode: UpdateMode::Merge, items }
    }

    #[tokio::test]
    async fn todos_above_the_limit_are_refused_with_their_number_and_change_nothing() {
        let store = MemoryStore { started: true.into(), ..MemoryStore::default() };
        store.update_todos(merge(0..400)).await.expect("400 may be stored");
        let refused = store.update_todos(merge(300..600)).await;
        let Err(MethodError::Declared(error @ UpdateTodosError::TooManyTodos(_))) = refused else {
            panic!("found {refused:?}");
        };
        assert_eq!(error.to_string(), "the run would have 600 todos; it may have 500");
        let kept = store.get_todos(GetTodosPayload::new("run_1")).await.expect("reading works");
        assert_eq!(kept.items, merge(0..400).items);
    }
}
