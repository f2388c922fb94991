//! The todos of each run, in memory. Never knows who asks: the run's id comes with the call.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use todos_service::errors::{GetTodosError, UpdateTodosError};
use todos_service::service::TodosService;
use todos_service::types::{
    GetTodosPayload, TodoItem, TodosSnapshot, UpdateMode, UpdateTodosPayload,
};
use toolwright::MethodError;

/// A store that forgets everything when it is dropped. It is still starting when it is first written to, as stores
/// are: whoever writes tries again.
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
        let todos = runs.entry(payload.run_id).or_default();
        if payload.mode == UpdateMode::Replace {
            todos.clear();
        }
        for item in payload.items {
            put(todos, item);
        }
        Ok(TodosSnapshot { items: todos.clone() })
    }

    /// A run that has stored nothing yet has no todos; that is no error.
    async fn get_todos(
        &self,
        payload: GetTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<GetTodosError>> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let todos = runs.get(&payload.run_id).into_iter().flatten();
        let asked = |item: &&TodoItem| payload.status.is_none_or(|status| item.status == status);
        Ok(TodosSnapshot { items: todos.filter(asked).cloned().collect() })
    }
}

fn put(todos: &mut Vec<TodoItem>, item: TodoItem) {
    match todos.iter_mut().find(|known| known.id == item.id) {
        Some(known) => *known = item,
        None => todos.push(item),
    }
}
