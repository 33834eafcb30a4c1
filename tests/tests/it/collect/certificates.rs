//! TLS: the server's certificate, and developers that are known by theirs.

use std::fs;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::time::{Duration, SystemTime};

#[cfg(unix)]
use rcgen::CertificateParams;
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use serde_json::Value;
use tests::{FrontDoor, Project, RunningProcess};

use crate::trial::{bundle, json};

/// Files of a certificate: it alone, its key, and both.
struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
    both: PathBuf,
}

fn certificate(folder: &Path, name: &str, host: &str) -> CertificateFiles {
    write(folder, name, &generate_simple_self_signed([host.to_owned()]).expect("valid names"))
}

fn write(
    folder: &Path,
    name: &str,
    CertifiedKey { cert, signing_key }: &CertifiedKey<KeyPair>,
) -> CertificateFiles {
    let file = |end: &str, text: String| {
        let path = folder.join(format!("{name}.{end}"));
        fs::write(&path, text).expect("the temporary folder is ours");
        path
    };
    let (certificate, key) = (cert.pem(), signing_key.serialize_pem());
    CertificateFiles {
        both: file("both.pem", format!("{certificate}{key}")),
        certificate: file("pem", certificate),
        key: file("key", key),
    }
}

#[test]
fn a_developer_is_known_by_a_certificate() {
    let machine = Project::new("");
    let folder = machine.sibling_path("certificates");
    fs::create_dir(&folder).expect("the temporary folder is ours");
    let [server, ann, stranger] = [("server", "127.0.0.1"), ("ann", "ann"), ("stranger", "stranger")]
        .map(|(name, host)| certificate(&folder, name, host));
    let authorities = folder.join("authorities.pem");
    let texts = [&ann, &stranger].map(|files| fs::read_to_string(&files.certificate).expect("a file"));
    fs::write(&authorities, texts.concat()).expect("the temporary folder is ours");
    fs::write(machine.sibling_path("server.toml"), "[collect]\nretention_days = 0\n").expect("written");
    let added =
        format!("collect token add ann --folder ../server --certificate {}", ann.certificate.display());
    machine.run(&added).expect_code(0);
    machine
        .run(&added.replace("add ann", "add bob"))
        .expect_code(2)
        .expect_message(&["has this certificate"]);
    let arguments = format!(
        "collect serve --json --config ../server.toml --listen 127.0.0.1:0 --folder ../server --tls-certificate {} --tls-key {} \
         --tls-clients {}",
        server.certificate.display(),
        server.key.display(),
        authorities.display()
    );
    let door = FrontDoor::start(machine.ghostbench(&arguments));

    let project = Project::generated(2);
    bundle(&project, "in.jsonl", "a1", 2);
    project.run("trial import ../in.jsonl").expect_code(0);
    project.run("trial review --full").expect_code(0);
    let run = |identity: &Path, roots: &str, command: &str| {
        let settings = project.sibling_path("client.toml");
        let text = format!(
            "[collect]\nurl = \"https://{}\"\n{roots}tls_identity = \"{}\"\n",
            door.address,
            identity.display()
        );
        fs::write(&settings, text).expect("the temporary folder is ours");
        RunningProcess::start(project.ghostbench(&format!("{command} --config {}", settings.display())))
            .wait()
    };
    let roots = format!("tls_roots = \"{}\"\n", server.certificate.display());
    run(&ann.both, &roots, "collect join --consent agreed --yes").expect_code(0);
    run(&ann.both, "", "collect send").expect_code(3).expect_message(&[
        "2 opportunities are kept",
        "no encrypted connection",
        "tls_roots",
    ]);
    run(&stranger.both, &roots, "collect send").expect_code(2).expect_message(&["401", "--certificate"]);
    let sent = run(&ann.both, &roots, "collect send --json").expect_code(0);
    assert_eq!(json(&sent.stdout)["sent"]["new"], 2);
    let status: Value = json(&run(&ann.both, &roots, "collect status --json").expect_code(0).stdout);
    assert_eq!((&status["account"], &status["own"]["opportunities"]), (&"ann".into(), &2.into()));
}

#[test]
fn files_that_cannot_be_used_are_named_with_the_reason() {
    let machine = Project::new("");
    let [one, other] = ["one", "other"].map(|name| certificate(&machine.root(), name, "localhost"));
    let path = |name: &str, text: &str| {
        machine.write(name, text);
        machine.root().join(name)
    };
    let damaged = path("damaged.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let whole = fs::read_to_string(&one.certificate).expect("a file");
    let cut = path("cut.pem", &whole[..whole.len() / 2]);
    let none = machine.root().join("none.pem");
    for (certificate, key, message) in [
        (&one.certificate, &other.key, "does not belong to the certificate"),
        (&one.certificate, &one.certificate, "it has no private key"),
        (&one.key, &one.key, "it has no certificate"),
        (&damaged, &one.key, "its first certificate is damaged"),
        (&cut, &one.key, "it is incomplete"),
        (&none, &one.key, "none.pem"),
    ] {
        let arguments = format!(
            "collect serve --listen 127.0.0.1:0 --folder ../server --tls-certificate {} --tls-key {}",
            certificate.display(),
            key.display()
        );
        machine.run(&arguments).expect_code(3).expect_message(&[message, "; name "]);
    }
    let added = format!("collect token add ann --folder ../server --certificate {}", damaged.display());
    machine.run(&added).expect_code(3).expect_message(&["damaged"]);
}

#[cfg(unix)]
#[test]
fn a_certificate_that_expires_soon_is_named_at_the_start() {
    let machine = Project::new("");
    let day = Duration::from_secs(24 * 60 * 60);
    let now = SystemTime::now();
    for (name, expiry, warning) in [
        ("old", now - day, Some("expired at ")),
        ("short", now + 13 * day, Some("expires at ")),
        ("long", now + 15 * day, None),
    ] {
        let mut params = CertificateParams::new(["localhost".to_owned()]).expect("a valid name");
        params.not_before = (now - 30 * day).into();
        params.not_after = expiry.into();
        let signing_key = KeyPair::generate().expect("random numbers");
        let cert = params.self_signed(&signing_key).expect("a valid certificate");
        let files = write(&machine.root(), name, &CertifiedKey { cert, signing_key });
        let arguments = format!(
            "collect serve --json --listen 127.0.0.1:0 --folder ../server --tls-certificate {} --tls-key {}",
            files.certificate.display(),
            files.key.display()
        );
        let (code, messages) = FrontDoor::start(machine.ghostbench(&arguments)).interrupt();
        assert_eq!(code, Some(130), "{messages}");
        assert_eq!(messages.contains("expire"), warning.is_some(), "{messages}");
        let date = humantime::format_rfc3339_seconds(expiry).to_string();
        for part in warning.into_iter().flat_map(|warning| [warning, &date, "renew it", name]) {
            assert!(messages.contains(part), "no {part} in: {messages}");
        }
    }
}

#[test]
fn a_server_does_not_send_tokens_and_code_unencrypted() {
    let machine = Project::new("");
    let serve = "collect serve --folder ../server --listen 0.0.0.0:0";
    machine.run(serve).expect_code(2).expect_message(&[
        "not encrypted",
        "--tls-certificate",
        "--behind-proxy",
    ]);
    machine.run(&format!("{serve} --tls-certificate a --tls-key b")).expect_code(3).expect_message(&["PEM"]);
    machine.run("collect serve --listen nowhere").expect_code(2).expect_message(&["no address"]);
    machine
        .run("collect serve --postgres-env NOT_SET")
        .expect_code(2)
        .expect_message(&["NOT_SET is not set"]);
}
