//! An engine under another name: the same engine, asked in two ways.

use std::sync::Arc;

use crate::engine_wrapper::EngineWrapper;
use crate::{Engine, EngineDescription};

/// Returns the engine under another name, sharing its child process or connection.
pub fn with_name(engine: Arc<dyn Engine>, name: &str) -> Arc<dyn Engine> {
    let description = EngineDescription { name: name.to_owned(), ..engine.description().clone() };
    Arc::new(RenamedEngine { description, engine })
}

struct RenamedEngine {
    description: EngineDescription,
    engine: Arc<dyn Engine>,
}

impl EngineWrapper for RenamedEngine {
    fn inner(&self) -> &dyn Engine {
        &*self.engine
    }

    fn description(&self) -> &EngineDescription {
        &self.description
    }
}
