//! Writes a model that llama.cpp can load and whose output is nonsense: `cargo run -p tests --example tiny_model -- tiny.gguf`.

fn main() -> std::io::Result<()> {
    let path =
        std::env::args_os().nth(1).ok_or_else(|| std::io::Error::other("name a file for the model"))?;
    std::fs::write(path, tests::LlamaServer::tiny_model())
}
