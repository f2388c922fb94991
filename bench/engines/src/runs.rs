//! Runs that wait for approvals while everything is restarted, and runs that are cancelled at a random moment.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use toolwright::{FailureKind, Payload};
use toolwright_restate::{RunStatus, Runs, Start};

use crate::lab::Lab;

/// A run takes about this long, in milliseconds: three steps of 20 ms.
const RUN: u64 = 150;

/// Returns whether all runs are as wanted.
pub(crate) async fn run(approvals: usize, cancelled: usize) -> bool {
    println!();
    let Some(approved) = approve(approvals).await else { return false };
    let Some(cancelled) = cancel(cancelled).await else { return false };
    approved && cancelled
}

fn start() -> Start {
    Start::new(&Payload::new("{}")).expect("it is JSON")
}

async fn approve(count: usize) -> Option<bool> {
    let mut lab = Lab::start().await?;
    let runs = Runs::new(&lab.ingress(), "approved");
    let ids: Vec<_> = (0..count).map(|n| format!("approved{n}")).collect();
    for id in &ids {
        runs.start(id, &start()).await.expect("it is the first run of this id");
    }
    let questions = join_all(ids.iter().map(|id| waiting(&runs, id))).await;
    lab.server.process.kill();
    lab.replace_worker();
    lab.server.process.restart();
    let began = Instant::now();
    let mut twice = 0;
    for (id, question) in ids.iter().zip(&questions) {
        let answer = question.approve();
        while runs.answer(id, &answer).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        twice += usize::from(runs.answer(id, &answer).await.is_ok());
    }
    let results = join_all(ids.iter().map(|id| runs.result(id))).await;
    let finished = results.iter().filter(|result| matches!(result, Ok(Ok(_)))).count();
    let attempts = lab.effects.attempts();
    let repeated = attempts.values().filter(|count| **count > 1).count();
    println!(
        "Approvals over a restart of the server and the worker: {finished} of {count} finished, {} effects, {repeated} of them \
         attempted again, {twice} second answers accepted, {:.1} s.",
        lab.effects.count(),
        began.elapsed().as_secs_f64()
    );
    Some(finished == count && lab.effects.count() == count && repeated == 0 && twice == 0)
}

async fn waiting(runs: &Runs, id: &str) -> toolwright_runtime::ApprovalRequest {
    loop {
        if let Ok(mut state) = runs.state(id).await
            && state.status == RunStatus::Waiting
        {
            return state.questions.remove(0);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn cancel(count: usize) -> Option<bool> {
    let lab = Lab::start().await?;
    let runs = Runs::new(&lab.ingress(), "steps");
    let (mut after, mut cancelled, mut finished, mut other) = (0, 0, 0, 0);
    for batch in (0..count).collect::<Vec<_>>().chunks(10) {
        let running = batch.iter().map(|n| {
            let (runs, lab) = (&runs, &lab);
            async move {
                let id = format!("cancelled{n}");
                runs.start(&id, &start()).await.expect("it is the first run of this id");
                tokio::time::sleep(Duration::from_millis(fastrand::u64(0..RUN))).await;
                runs.cancel(&id).await.expect("the server is there");
                let result = runs.result(&id).await.expect("there is such a run");
                let of_run = || {
                    let attempts = lab.effects.attempts();
                    attempts.keys().filter(|key| key.starts_with(&format!("{id}."))).count()
                };
                let at_end = of_run();
                tokio::time::sleep(Duration::from_millis(500)).await;
                (result, of_run() - at_end)
            }
        });
        for (result, effects) in join_all(running).await {
            after += effects;
            match result {
                Ok(_) => finished += 1,
                Err(failure) if failure.kind == FailureKind::Cancelled => cancelled += 1,
                Err(_) => other += 1,
            }
        }
    }
    println!(
        "Runs cancelled at a random moment: {count}; {cancelled} were cancelled, {finished} had finished before, {other} failed \
         otherwise; {after} effects after the end of their run."
    );
    Some(after == 0 && other == 0)
}
