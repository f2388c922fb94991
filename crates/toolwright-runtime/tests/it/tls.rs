//! Remote toolsets over TCP with TLS: both sides verify certificates.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use toolwright::{FailureKind, Scope};
use toolwright_runtime::remote::rustls::crypto::ring::default_provider;
use toolwright_runtime::remote::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use toolwright_runtime::remote::rustls::server::WebPkiClientVerifier;
use toolwright_runtime::remote::rustls::{ClientConfig, RootCertStore, ServerConfig};
use toolwright_runtime::remote::{RemoteError, RemoteOptions, RemoteToolset};
use toolwright_runtime::tools::IntoSource;
use toolwright_runtime::{FunctionTool, Toolset};

use crate::planners::brief;
use crate::tools::{N, call};
use crate::toys::{spec, tool};

type Issuer = CertifiedIssuer<'static, KeyPair>;

/// A certificate of `localhost` with its key.
type Identity = (CertificateDer<'static>, PrivateKeyDer<'static>);

fn authority() -> Issuer {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn issued(by: &Issuer) -> Identity {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, by).unwrap();
    (certificate.der().clone(), PrivateKeyDer::try_from(key.serialize_der()).unwrap())
}

fn roots(authority: &Issuer) -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    Arc::new(roots)
}

/// The configuration of a server. It asks for certificates of this authority, if there is one.
fn server(clients: Option<&Issuer>, (certificate, key): Identity) -> Arc<ServerConfig> {
    let provider = Arc::new(default_provider());
    let config = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = match clients {
        Some(authority) => {
            let verifier = WebPkiClientVerifier::builder_with_provider(roots(authority), provider);
            config.with_client_cert_verifier(verifier.build().unwrap())
        }
        None => config.with_no_client_auth(),
    };
    Arc::new(config.with_single_cert(vec![certificate], key).unwrap())
}

fn client(servers: &Issuer, identity: Option<Identity>) -> Arc<ClientConfig> {
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots(servers));
    Arc::new(match identity {
        Some((certificate, key)) => config.with_client_auth_cert(vec![certificate], key).unwrap(),
        None => config.with_no_client_auth(),
    })
}

/// Serves a toolset, and connects to it.
async fn connect(
    server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
    (of_server, of_client): (RemoteOptions, RemoteOptions),
) -> Result<RemoteToolset, RemoteError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let toolset = tool("plus", |n| n + 1).into_source();
    tokio::spawn(toolset.serve_tls(listener, server, of_server));
    // A peer that never begins stops no other.
    let mut silent = TcpStream::connect(address).await.unwrap();
    silent.write_all(b"x").await.unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    RemoteToolset::connect_tls(stream, name, client, &Scope::default(), of_client).await
}

fn defaults() -> (RemoteOptions, RemoteOptions) {
    (RemoteOptions::new(), RemoteOptions::new())
}

#[tokio::test]
async fn a_toolset_is_used_over_tls_with_certificates_of_both_sides() {
    let ca = authority();
    let (server, client) = (server(Some(&ca), issued(&ca)), client(&ca, Some(issued(&ca))));
    let remote = connect(server, client, defaults()).await.unwrap();
    assert_eq!(remote.tools(&Scope::default()).await.unwrap().len(), 1);
    assert_eq!(brief(&remote.call(&call("plus", "a", 1)).await), r#"{"n":2}"#);
}

#[tokio::test]
async fn peers_without_a_trusted_certificate_are_refused() {
    let (ca, other) = (authority(), authority());
    for (served, used, name) in [
        (server(Some(&ca), issued(&ca)), client(&ca, None), "a client without a certificate"),
        (server(Some(&ca), issued(&ca)), client(&ca, Some(issued(&other))), "an unknown client"),
        (server(Some(&ca), issued(&other)), client(&ca, Some(issued(&ca))), "an unknown server"),
        (server(None, issued(&ca)), client(&ca, Some(issued(&ca))), "a client that is not asked"),
    ] {
        let connected = connect(served, used, defaults()).await;
        assert!(connected.is_err(), "{name}");
    }
    let unasked = RemoteOptions::new().with_peers(|peer| peer.certificate().is_none());
    let (served, used) = (server(None, issued(&ca)), client(&ca, None));
    connect(served, used, (unasked, RemoteOptions::new())).await.expect("the host accepts it");
}

/// Peers that never finish a handshake keep none out that do, though they are more than the connections that are accepted.
#[tokio::test]
async fn peers_that_never_show_a_certificate_keep_no_other_out() {
    let ca = authority();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let options = RemoteOptions::new().with_max_connections(2);
    let toolset = tool("plus", |n| n + 1).into_source();
    tokio::spawn(toolset.serve_tls(listener, server(Some(&ca), issued(&ca)), options));
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let (client, scope) = (client(&ca, Some(issued(&ca))), Scope::default());
    let connecting = RemoteToolset::connect_tls(stream, name, client, &scope, RemoteOptions::new());
    let connected = tokio::time::timeout(Duration::from_secs(5), connecting).await;
    let remote = connected.expect("before the handshakes of others time out").unwrap();
    remote.tools(&scope).await.unwrap();
    assert_eq!(brief(&remote.call(&call("plus", "a", 1)).await), r#"{"n":2}"#);
}

#[tokio::test]
async fn certificates_decide_which_peers_are_accepted_and_their_scope() {
    let ca = authority();
    let (one, two, identity) = (issued(&ca), issued(&ca), issued(&ca));
    let (first, server_certificate) = (one.0.to_vec(), identity.0.to_vec());
    let only_first = RemoteOptions::new()
        .with_peers(move |peer| {
            peer.certificate() == Some(first.as_slice()) && peer.user_id().is_none()
        })
        .with_scope(|peer, _| Scope {
            run_id: peer.certificate().map(|certificate| certificate.len().to_string()),
            ..Scope::default()
        });
    let server = server(Some(&ca), identity);
    let pinned = RemoteOptions::new()
        .with_peers(move |peer| peer.certificate() == Some(server_certificate.as_slice()));
    for (identity, is_accepted) in [(one, true), (two, false)] {
        let options = (only_first.clone(), pinned.clone());
        let connected = connect(Arc::clone(&server), client(&ca, Some(identity)), options).await;
        assert_eq!(connected.is_ok(), is_accepted);
    }
    let none = RemoteOptions::new().with_peers(|_| false);
    let refused =
        connect(server, client(&ca, Some(issued(&ca))), (RemoteOptions::new(), none)).await;
    assert!(matches!(refused, Err(RemoteError::UntrustedPeer { user_id: None })));
}

#[tokio::test]
async fn a_call_fails_when_the_connection_ends() {
    let ca = authority();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let slow = FunctionTool::new(spec("slow"), async |_: N| std::future::pending::<bool>().await);
    let config = server(Some(&ca), issued(&ca));
    let serving =
        tokio::spawn(slow.into_source().serve_tls(listener, config, RemoteOptions::new()));
    let scope = Scope::default();
    let remote = RemoteToolset::connect_tls(
        TcpStream::connect(address).await.unwrap(),
        ServerName::try_from("localhost").unwrap(),
        client(&ca, Some(issued(&ca))),
        &scope,
        RemoteOptions::new(),
    );
    let remote = Arc::new(remote.await.unwrap());
    remote.tools(&Scope::default()).await.unwrap();
    let calling = tokio::spawn({
        let remote = Arc::clone(&remote);
        async move { remote.call(&call("slow", "a", 1)).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    serving.abort();
    let ended = tokio::time::timeout(Duration::from_secs(5), calling).await.unwrap().unwrap();
    assert_eq!(ended.outcome.unwrap_err().kind, FailureKind::Internal, "it may have run");
}
