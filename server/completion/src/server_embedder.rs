//! Adapts the embedding client of `engines` to the trait of `index`: neither crate depends on the other.

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
