//! The identity of a configured engine: its settings, with the contents of the files behind them.
//!
//! A file is read completely before an engine is measured or served: a GGUF file of 4 GB takes about 2 s if the system has it
//! in memory, from where its server then loads it, and as long as the disk takes otherwise. `program` decides which parts of a
//! program count, and `contents` reads files and folders.

mod contents;
mod program;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use config::{EngineSettings, IdentityPart, IdentityValue};

use self::contents::Contents;
use super::hash_key::{HASH_KEY, HashKey, is_hashed};
use super::programs;

/// Computes identities that can be compared on one machine.
pub(super) struct IdentityHasher {
    key: HashKey,
    contents: Contents,
    /// The inherited variables of programs that count.
    environment: Vec<(OsString, OsString)>,
}

/// The relevant parts of a configured engine.
#[derive(Clone)]
pub(super) struct IdentityInput {
    pub(super) parts: Vec<IdentityPart>,
    pub(super) settings: EngineSettings,
}

impl IdentityHasher {
    /// With a key, a folder for hashes of large files, and the variables that programs inherit.
    pub(super) fn new(
        key: HashKey,
        remembered: Option<PathBuf>,
        inherited: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> IdentityHasher {
        IdentityHasher {
            key,
            contents: Contents { remembered },
            environment: program::environment(inherited),
        }
    }

    /// Returns the settings by key, as stored in a run: values that may be secret are hashed, and files are replaced by the
    /// hash of their contents.
    pub(super) fn identity(&self, engine: &IdentityInput) -> BTreeMap<String, String> {
        let mut identity = BTreeMap::new();
        for IdentityPart { key, value } in &engine.parts {
            let text = match value {
                IdentityValue::Plain(text) => text.clone(),
                IdentityValue::Secret(secret) => self.key.hash(key, secret.expose().as_bytes()),
                IdentityValue::File(path) => self.contents(key, &parts_of_model(path)),
            };
            identity.insert(key.clone(), text);
        }
        if engine.settings.kind.is_program() {
            self.command(&engine.settings, &mut identity);
        }
        if identity.values().any(|text| is_hashed(text)) {
            identity.insert(HASH_KEY.to_owned(), self.key.id());
        }
        identity
    }

    /// Adds the program with its arguments, the files that they refer to, and its inherited variables.
    fn command(&self, settings: &EngineSettings, identity: &mut BTreeMap<String, String>) {
        let program = programs::program(settings);
        let name = program.command.first().map_or("", String::as_str);
        let file_name = Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
        identity.insert("command".to_owned(), file_name);
        for (place, word) in program.command.iter().enumerate() {
            let key = format!("command[{place}]");
            let files = program::leads_to(&program, place);
            let text = match files.first() {
                Some(file) if place == 0 => file.to_string_lossy(),
                _ => word.as_str().into(),
            };
            identity.insert(key.clone(), self.key.hash(&key, text.as_bytes()));
            if !files.is_empty() {
                let key = format!("{key} contents");
                let contents = self.contents(&key, &files);
                identity.insert(key, contents);
            }
        }
        let inherited = program::inherited_by(&program, &self.environment);
        identity.insert("environment".to_owned(), self.key.hash("environment", &inherited));
    }

    fn contents(&self, key: &str, paths: &[PathBuf]) -> String {
        let mut all = Vec::new();
        for path in paths {
            match self.contents.hash(path) {
                Ok(hash) => all.extend_from_slice(hash.as_bytes()),
                // Replayed from a cassette, an engine may be missing.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return "absent".to_owned(),
                Err(_) => return "unreadable".to_owned(),
            }
        }
        self.key.hash(key, &all)
    }
}

/// Returns all files of a model that is split as llama.cpp splits them (`name-00001-of-00003.gguf`); otherwise only the file.
fn parts_of_model(path: &Path) -> Vec<PathBuf> {
    let alone = || vec![path.to_owned()];
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return alone() };
    let split = name.strip_suffix(".gguf").and_then(|stem| stem.rsplit_once("-of-"));
    let Some((stem, count)) = split.and_then(|(head, count)| Some((head.rsplit_once('-')?.0, count))) else {
        return alone();
    };
    match count.parse::<u32>() {
        Ok(number) if count.len() == 5 => (1..=number)
            .map(|part| path.with_file_name(format!("{stem}-{part:05}-of-{count}.gguf")))
            .collect(),
        _ => alone(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use config::{Config, ConfigLayer, Environment, LayerKind, Trust};

    use super::*;

    fn hashes() -> IdentityHasher {
        IdentityHasher::new(HashKey::random(), None, [])
    }

    /// The identity of the only engine of a configuration.
    fn identity(hashes: &IdentityHasher, text: &str) -> BTreeMap<String, String> {
        let variables = Environment::new([("TOKEN".to_owned(), "sk-secret".to_owned())]);
        let layer = ConfigLayer::file(
            LayerKind::User,
            Path::new("/w/c.toml"),
            text.as_bytes(),
            Trust::Trusted,
            &variables,
        );
        let config = Config::new(&[layer], &variables);
        let [engine] = config.engines.as_slice() else { panic!("one engine: {:?}", config.problems) };
        let settings = engine.settings.clone().expect("it can be asked");
        hashes.identity(&IdentityInput { parts: engine.identity.clone(), settings })
    }

    fn different(hashes: &IdentityHasher, one: &str, two: &str) -> Vec<String> {
        let (one, two) = (identity(hashes, one), identity(hashes, two));
        let keys = one.keys().chain(two.keys()).collect::<std::collections::BTreeSet<_>>();
        keys.into_iter().filter(|key| one.get(*key) != two.get(*key)).cloned().collect()
    }

    #[test]
    fn engines_with_different_settings_differ_in_identity() {
        let hashes = hashes();
        let server = |rest: &str| format!("[[engine]]\nname = \"a\"\nkind = \"openai\"\n{rest}");
        let (one, two) = ("url = \"http://localhost:1\"\n", "url = \"http://localhost:2\"\n");
        assert_eq!(different(&hashes, &server(one), &server(one)), [""; 0]);
        assert_eq!(different(&hashes, &server(one), &server(two)), ["url"]);
        let headers = |value: &str| server(&format!("{one}headers = {{ x-route = \"{value}\" }}"));
        assert_eq!(different(&hashes, &headers("$TOKEN"), &headers("b")), ["headers.x-route"]);
        let program = |rest: &str| {
            format!("[[engine]]\nname = \"a\"\nkind = \"command\"\ncommand = [\"false\"]\n{rest}")
        };
        assert_eq!(
            different(&hashes, &program("env = { MODE = \"1\" }"), &program("env = { MODE = \"2\" }")),
            ["env.MODE"]
        );
        let shown = format!("{:?}", identity(&hashes, &headers("$TOKEN")));
        assert!(!shown.contains("sk-secret") && !shown.contains("localhost"), "{shown}");
    }

    #[test]
    fn identity_includes_contents_of_argument_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let hashes = hashes();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("it can be written");
            path.display().to_string().replace('\\', "/")
        };
        let (script, data) = (file("run.py", "1"), file("model.bin", "1"));
        let text = format!(
            "[[engine]]\nname = \"a\"\nkind = \"command\"\ncommand = [\"false\", \"{script}\", \"--model={data}\", \"--key=sk-1\"]\n"
        );
        let before = identity(&hashes, &text);
        assert_eq!(before["command"], "false");
        assert!(!format!("{before:?}").contains("sk-1") && !format!("{before:?}").contains("run.py"));
        let changed = || {
            let now = identity(&hashes, &text);
            now.iter()
                .filter(|(key, value)| before.get(*key) != Some(*value))
                .map(|(key, _)| key.clone())
                .collect::<Vec<_>>()
        };
        file("run.py", "2");
        assert_eq!(changed(), ["command[1] contents"]);
        file("model.bin", "2");
        assert_eq!(changed(), ["command[1] contents", "command[2] contents"]);
    }

    #[test]
    #[cfg(unix)]
    fn identity_includes_folders_modules_scripts_and_interpreters() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().expect("a folder");
        let hashes = hashes();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("it is below a folder")).expect("a folder");
            fs::write(&path, text).expect("it can be written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        };
        let root = folder.path().display().to_string();
        write("bin/interpreter", "1");
        write("run", "#!/usr/bin/env -S interpreter --fast\n");
        write("weights/part-1.bin", "1");
        write("engine/core/model.py", "1");
        write("serve.sh", "1");
        let text = format!(
            "[[engine]]\nname = \"a\"\nkind = \"command\"\nfolder = \"{root}\"\nenv = {{ PATH = \"{root}/bin\" }}\n\
             command = [\"{root}/run\", \"--model=weights\", \"-m\", \"engine.core\", \"-c\", \"exec ./serve.sh 2>log\"]\n"
        );
        let mut before = identity(&hashes, &text);
        for (file, key) in [
            ("bin/interpreter", "command[0] contents"),
            ("weights/part-1.bin", "command[1] contents"),
            ("engine/core/model.py", "command[3] contents"),
            ("serve.sh", "command[5] contents"),
        ] {
            write(file, "2");
            let now = identity(&hashes, &text);
            let changed: Vec<_> =
                now.iter().filter(|(key, value)| before.get(*key) != Some(*value)).collect();
            assert_eq!(changed.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), [key], "{file}");
            before = now;
        }
    }

    #[test]
    fn identity_includes_inherited_variables_except_session_ones() {
        let hash = |value: &str, others: &[&str]| {
            let others = others.iter().map(|name| (OsString::from(name), OsString::from(value)));
            let inherited = others.chain([("HOME".into(), "/home/me".into())]);
            let hashes = IdentityHasher::new(HashKey::new([1; HashKey::BYTES]), None, inherited);
            let text = "[[engine]]\nname = \"a\"\nkind = \"command\"\ncommand = [\"false\"]\nenv = { MODE = \"1\" }\n";
            identity(&hashes, text)["environment"].clone()
        };
        for counts in ["MODEL", "HF_HOME", "PYTHONPATH", "CUDA_VISIBLE_DEVICES"] {
            assert_ne!(hash("sk-1", &[counts]), hash("sk-2", &[counts]), "{counts}");
        }
        for other in ["MODE", "PWD", "SSH_AUTH_SOCK", "VSCODE_PID", "TERM"] {
            assert_eq!(hash("sk-1", &[other]), hash("sk-2", &[other]), "{other}");
        }
        assert!(!hash("sk-1", &["MODEL"]).contains("sk-1"));
    }

    #[test]
    fn all_parts_of_a_split_model_are_listed() {
        let parts = parts_of_model(Path::new("/m/a-b-00002-of-00003.gguf"));
        assert_eq!(parts, [1, 2, 3].map(|part| PathBuf::from(format!("/m/a-b-0000{part}-of-00003.gguf"))));
        for alone in ["/m/a.gguf", "/m/a-1-of-2.gguf", "/m/a-of-00002.gguf"] {
            assert_eq!(parts_of_model(Path::new(alone)), [PathBuf::from(alone)]);
        }
    }
}
