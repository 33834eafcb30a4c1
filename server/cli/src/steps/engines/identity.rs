//! What identifies a configured engine: its settings, with the contents of the files behind them.
//!
//! A file is read whole when an engine is to be measured or served: a GGUF file of 4 GB takes about 2 s if the system has it in memory,
//! which its server then loads from there, and as long as the disk takes otherwise. Hashes of large files are remembered by size and
//! times, so that an editor does not read a model at every start. Only regular files are opened; folders are not read.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use config::{EngineSettings, IdentityPart, IdentityValue};
use replay::{HASH_KEY, HashKey};

use super::programs;
use crate::folders;
use crate::output::say;

/// Smaller files are read faster than remembered hashes are looked up and kept, bytes.
const REMEMBERED_FROM: u64 = 16 << 20;

/// Makes identities that can be compared on one machine.
pub(crate) struct Hashes {
    key: HashKey,
    /// The folder of hashes of large files.
    remembered: Option<PathBuf>,
}

/// For one process: nothing is read from or written to the user's folders.
impl Default for Hashes {
    fn default() -> Hashes {
        Hashes { key: HashKey::random(), remembered: None }
    }
}

/// A configured engine, as far as it matters here.
#[derive(Clone)]
pub(crate) struct Configured {
    pub(crate) parts: Vec<IdentityPart>,
    pub(crate) settings: EngineSettings,
}

impl Hashes {
    /// With this machine's key. Without a home folder, or with a broken one, runs cannot be resumed by another process.
    pub(crate) fn of_this_machine() -> Hashes {
        let remembered = folders::cache_path().map(|folder| folder.join("file-hashes"));
        let Some(data) = folders::data_path() else { return Hashes { remembered, ..Hashes::default() } };
        let key = replay::DataFolder::new(data).hash_key().unwrap_or_else(|error| {
            say(&format!("warning: {error}; runs made now cannot be resumed"));
            HashKey::random()
        });
        Hashes { key, remembered }
    }

    /// The settings by key, as they go into a run: values that may be secret hashed, and of files the hash of their contents.
    pub(crate) fn identity(&self, engine: &Configured) -> BTreeMap<String, String> {
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
        if identity.values().any(|text| replay::is_hashed(text)) {
            identity.insert(HASH_KEY.to_owned(), self.key.id());
        }
        identity
    }

    /// The program with its arguments, and the contents of the files that they name: a script is an argument of its interpreter.
    fn command(&self, settings: &EngineSettings, identity: &mut BTreeMap<String, String>) {
        let program = programs::program(settings);
        let name = program.command.first().map_or("", String::as_str);
        let file_name = Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
        identity.insert("command".to_owned(), file_name);
        let file = program.file().unwrap_or_else(|| PathBuf::from(name));
        let folder = program.folder.as_deref().unwrap_or(Path::new(""));
        for (place, word) in program.command.iter().enumerate() {
            let key = format!("command[{place}]");
            let file = match place {
                0 => file.clone(),
                _ => folder.join(word.split_once('=').map_or(word.as_str(), |(_, value)| value)),
            };
            let text = if place == 0 { file.to_string_lossy().into_owned() } else { word.clone() };
            identity.insert(key.clone(), self.key.hash(&key, text.as_bytes()));
            if place == 0 || file.is_file() {
                let key = format!("{key} contents");
                let contents = self.contents(&key, &[file]);
                identity.insert(key, contents);
            }
        }
    }

    fn contents(&self, key: &str, paths: &[PathBuf]) -> String {
        let mut all = Vec::new();
        for path in paths {
            match self.file(path) {
                Ok(hash) => all.extend_from_slice(hash.as_bytes()),
                // Replayed from a cassette, an engine need not be there.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return "absent".to_owned(),
                Err(_) => return "unreadable".to_owned(),
            }
        }
        self.key.hash(key, &all)
    }

    /// The hash of a file's contents.
    fn file(&self, path: &Path) -> io::Result<blake3::Hash> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(io::Error::other("no regular file"));
        }
        let large = metadata.len() >= REMEMBERED_FROM;
        let Some(remembered) = self.remembered.as_ref().filter(|_| large) else { return hash(path) };
        let whole = path.canonicalize()?;
        let entry = remembered.join(&blake3::hash(whole.as_os_str().as_encoded_bytes()).to_hex()[..32]);
        let stamp = stamp(&metadata);
        let known = fs::read_to_string(&entry).unwrap_or_default();
        let known = known.strip_prefix(&format!("{stamp} ")).and_then(|hex| blake3::Hash::from_hex(hex).ok());
        if let Some(known) = known {
            return Ok(known);
        }
        let hash = hash(path)?;
        // Best effort: the file is read again next time. One whole name per process, so that no reader sees half a line.
        let partial = entry.with_extension(format!("{}.partial", std::process::id()));
        let _ = private_files::create_folder(remembered)
            .and_then(|()| private_files::write(&partial, format!("{stamp} {hash}").as_bytes()))
            .and_then(|()| fs::rename(&partial, &entry));
        Ok(hash)
    }
}

fn hash(path: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize())
}

/// What changes when a file does: size, times and, on Unix, its number. The time of the last change of its state cannot be set back.
fn stamp(metadata: &Metadata) -> String {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.unwrap_or_default().as_nanos();
    #[cfg(unix)]
    let system = {
        use std::os::unix::fs::MetadataExt;
        format!("{}:{}:{}.{}", metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
    };
    #[cfg(not(unix))]
    let system = "";
    format!("{} {modified} {system}", metadata.len())
}

/// All files of a model that is split as llama.cpp splits them (`name-00001-of-00003.gguf`); any other file alone.
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
    use std::time::{Duration, SystemTime};

    use config::{Config, Layer, LayerKind, Trust, Variables};

    use super::*;

    /// The identity of the only engine of a configuration.
    fn identity(hashes: &Hashes, text: &str) -> BTreeMap<String, String> {
        let variables = Variables::new([("TOKEN".to_owned(), "sk-secret".to_owned())]);
        let layer =
            Layer::file(LayerKind::User, Path::new("/w/c.toml"), text.as_bytes(), Trust::Trusted, &variables);
        let config = Config::new(&[layer], &variables);
        let [engine] = config.engines.as_slice() else { panic!("one engine: {:?}", config.problems) };
        let settings = engine.settings.clone().expect("it can be asked");
        hashes.identity(&Configured { parts: engine.identity.clone(), settings })
    }

    fn different(hashes: &Hashes, one: &str, two: &str) -> Vec<String> {
        let (one, two) = (identity(hashes, one), identity(hashes, two));
        let keys = one.keys().chain(two.keys()).collect::<std::collections::BTreeSet<_>>();
        keys.into_iter().filter(|key| one.get(*key) != two.get(*key)).cloned().collect()
    }

    #[test]
    fn engines_that_the_audit_found_equal_differ_by_key() {
        let hashes = Hashes::default();
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
    fn contents_of_programs_arguments_and_models_take_part() {
        let folder = tempfile::tempdir().expect("a folder");
        let hashes = Hashes { remembered: Some(folder.path().join("hashes")), ..Hashes::default() };
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
    fn a_large_file_is_read_again_when_it_has_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let remembered = folder.path().join("hashes");
        let hashes = Hashes { remembered: Some(remembered.clone()), ..Hashes::default() };
        let path = folder.path().join("m.gguf");
        let write = |byte: u8| {
            fs::write(&path, vec![byte; REMEMBERED_FROM as usize]).expect("it can be written");
            let past = SystemTime::now() - Duration::from_secs(3600);
            File::options().write(true).open(&path).and_then(|file| file.set_modified(past)).expect("a time");
        };
        write(1);
        let first = hashes.file(&path).expect("it is there");
        assert_eq!(hashes.file(&path).expect("it is there"), first);
        assert_eq!(fs::read_dir(&remembered).expect("hashes are kept").count(), 1);
        write(2);
        let second = hashes.file(&path).expect("it is there");
        assert_eq!(second, hash(&path).expect("it is there"));
        assert_ne!(second, first);
    }

    #[test]
    fn models_in_parts_are_read_whole() {
        let parts = parts_of_model(Path::new("/m/a-b-00002-of-00003.gguf"));
        assert_eq!(parts, [1, 2, 3].map(|part| PathBuf::from(format!("/m/a-b-0000{part}-of-00003.gguf"))));
        for alone in ["/m/a.gguf", "/m/a-1-of-2.gguf", "/m/a-of-00002.gguf"] {
            assert_eq!(parts_of_model(Path::new(alone)), [PathBuf::from(alone)]);
        }
    }
}
