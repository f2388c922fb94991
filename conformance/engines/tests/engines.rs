//! The servers start, and start again where they were.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use toolwright_engines::{nats, restate};

#[test]
fn a_nats_server_greets_unless_it_is_paused_or_killed() {
    let Some(mut server) = nats() else { return };
    let address = server.url().replace("nats://", "");
    let greets = || {
        let Ok(stream) = TcpStream::connect(&address) else { return false };
        stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).is_ok() && line.starts_with("INFO ")
    };
    assert!(greets());
    server.process.pause();
    assert!(!greets());
    server.process.resume();
    assert!(greets());
    server.process.kill();
    assert!(!greets());
    server.process.restart();
    assert!(greets());
    drop(server);
    assert!(!greets());
}

#[tokio::test]
async fn a_restate_server_accepts_only_workers_that_answer_and_restarts() {
    let Some(mut server) = restate() else { return };
    assert_ne!(server.ingress(), server.admin());
    for _ in 0..2 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let worker = format!("http://{}", listener.local_addr().unwrap());
        let answering = std::thread::spawn(move || {
            // Not a worker: it closes what the server opens.
            let (mut stream, _): (TcpStream, _) = listener.accept().unwrap();
            let mut read = [0; 1];
            let asked = stream.read(&mut read).unwrap() > 0;
            let _ = stream.write_all(b"no");
            asked
        });
        let error = server.register(&worker).await.unwrap_err();
        assert!(error.to_string().contains("the worker is not accepted"), "{error}");
        assert!(answering.join().unwrap());
        server.process.restart();
    }
}
