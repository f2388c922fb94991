//! A network that can be cut: forwards connections, and while it is cut, lets nothing through.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    is_cut: Arc<watch::Sender<bool>>,
}

impl Proxy {
    pub(crate) async fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let is_cut = Arc::new(watch::channel(false).0);
        let cut = Arc::clone(&is_cut);
        tokio::spawn(async move {
            while let Ok((inward, _)) = listener.accept().await {
                let cut = cut.subscribe();
                tokio::spawn(async move {
                    let mut waiting = cut.clone();
                    // A network that is cut opens no connection.
                    let _ = waiting.wait_for(|is_cut| !is_cut).await;
                    let Ok(outward) = TcpStream::connect(target).await else { return };
                    let (from_in, to_in) = inward.into_split();
                    let (from_out, to_out) = outward.into_split();
                    tokio::select! {
                        () = forward(from_in, to_out, cut.clone()) => {}
                        () = forward(from_out, to_in, cut) => {}
                    }
                });
            }
        });
        Self { address, is_cut }
    }

    pub(crate) fn cut(&self, is_cut: bool) {
        self.is_cut.send_replace(is_cut);
    }
}

async fn forward(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut cut: watch::Receiver<bool>,
) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        if cut.wait_for(|is_cut| !is_cut).await.is_err()
            || to.write_all(&buffer[..length]).await.is_err()
        {
            return;
        }
    }
}

/// Spreads connections over several servers, of which some may have ended.
pub(crate) struct Balancer;

impl Balancer {
    pub(crate) async fn over(targets: Vec<SocketAddr>) -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        tokio::spawn(async move {
            let mut targets = targets;
            while let Ok((mut inward, _)) = listener.accept().await {
                targets.rotate_left(1);
                let targets = targets.clone();
                tokio::spawn(async move {
                    // The first that can be reached.
                    let Ok(mut outward) = TcpStream::connect(&*targets).await else { return };
                    let _ = tokio::io::copy_bidirectional(&mut inward, &mut outward).await;
                });
            }
        });
        address
    }
}
