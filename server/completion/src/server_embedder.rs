//! What the index asks of embedders, answered by a server. The crates of both know nothing of each other.

use engines::HttpEmbedder;
use index::{Embedder, EmbedderError};

/// A server's embeddings for the index.
pub struct ServerEmbedder(pub HttpEmbedder);

impl Embedder for ServerEmbedder {
    fn model(&self) -> &str {
        self.0.model()
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        Ok(self.0.embed(texts)?)
    }
}
