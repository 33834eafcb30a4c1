//! Settings of a file and of an editor.

use std::path::Path;

use config::{Config, ConfigLayer, Environment, LayerKind, Trust};

/// The bytes are a file; if they are JSON, settings of an editor, too.
pub(crate) fn run(input: &[u8]) {
    let variables = Environment::default();
    let file =
        |kind| ConfigLayer::file(kind, Path::new("/w/ghostbench.toml"), input, Trust::Trusted, &variables);
    let mut layers = vec![file(LayerKind::User), file(LayerKind::Workspace)];
    if let Ok(json) = serde_json::from_slice(input) {
        layers.push(ConfigLayer::editor(&json, &variables));
    }
    for problem in layers.iter().flat_map(ConfigLayer::problems) {
        assert!(!problem.to_string().is_empty());
    }
    let _ = Config::new(&layers, &variables);
}
