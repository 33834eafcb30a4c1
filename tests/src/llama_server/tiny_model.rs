//! A language model of a hundred thousand random numbers, as a GGUF file: its output is nonsense, but a real server loads and
//! runs it.
//!
//! ```text
//! magic, version, number of tensors, number of pairs | pairs | tensors' names and places | their numbers
//! ```
//!
//! Numbers are little-endian; strings and arrays have a length prefix. Its tokens are the bytes, in GPT-2's notation.

/// Size of the model; a larger one would only be slower.
const DIMENSIONS: usize = 64;
const HEADS: usize = 4;
const INNER: usize = 128;
const LAYERS: usize = 2;

/// Context window in tokens.
const CONTEXT: u32 = 16_384;

/// Alignment of tensors in bytes.
const ALIGNMENT: usize = 32;

/// Value types of the file format.
const U32: u32 = 4;
const I32: u32 = 5;
const F32: u32 = 6;
const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// Token types.
const NORMAL: i32 = 1;
const CONTROL: i32 = 3;

/// Returns the file; deterministic.
pub(super) fn tiny_model() -> Vec<u8> {
    let mut file = Gguf::default();
    file.string("general.architecture", "llama");
    file.number("llama.context_length", CONTEXT);
    for (name, size) in [
        ("embedding_length", DIMENSIONS),
        ("block_count", LAYERS),
        ("feed_forward_length", INNER),
        ("attention.head_count", HEADS),
        ("attention.head_count_kv", HEADS),
        ("rope.dimension_count", DIMENSIONS / HEADS),
    ] {
        file.number(&format!("llama.{name}"), size as u32);
    }
    file.pair("llama.attention.layer_norm_rms_epsilon", F32, &1e-5_f32.to_le_bytes());
    let tokens = vocabulary(&mut file);
    tensors(&mut file, tokens);
    file.into_bytes()
}

/// Writes the vocabulary: all bytes, one pair of them because a tokenizer needs a merge, and the end of text. Returns the
/// number of tokens.
fn vocabulary(file: &mut Gguf) -> usize {
    let mut tokens: Vec<String> = byte_characters().iter().map(char::to_string).collect();
    tokens.extend(["de".to_owned(), "<|endoftext|>".to_owned()]);
    let end = tokens.len() - 1;
    let kinds = (0..tokens.len()).map(|token| if token == end { CONTROL } else { NORMAL });
    let kinds: Vec<u8> = kinds.flat_map(i32::to_le_bytes).collect();
    file.string("tokenizer.ggml.model", "gpt2");
    file.string("tokenizer.ggml.pre", "gpt-2");
    file.array(
        "tokenizer.ggml.tokens",
        STRING,
        tokens.len(),
        &tokens.iter().flat_map(|token| string(token)).collect::<Vec<u8>>(),
    );
    file.array("tokenizer.ggml.token_type", I32, tokens.len(), &kinds);
    file.array("tokenizer.ggml.merges", STRING, 1, &string("d e"));
    for name in ["bos", "eos"] {
        file.number(&format!("tokenizer.ggml.{name}_token_id"), end as u32);
    }
    tokens.len()
}

/// GPT-2's character for each byte: itself if it is printable, else one from 256 on.
fn byte_characters() -> Vec<char> {
    let is_seen = |byte: u32| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let mut next = 256..;
    (0..256)
        .map(|byte| if is_seen(byte) { byte } else { next.next().expect("numbers do not end") })
        .filter_map(char::from_u32)
        .collect()
}

fn tensors(file: &mut Gguf, tokens: usize) {
    let mut random = Xorshift(1);
    let mut random = |file: &mut Gguf, name: &str, columns: usize, rows: usize| {
        let numbers: Vec<f32> = (0..columns * rows).map(|_| random.next() * 0.2).collect();
        file.tensor(name, &[columns, rows], &numbers);
    };
    let ones = |file: &mut Gguf, name: &str| file.tensor(name, &[DIMENSIONS], &[1.0; DIMENSIONS]);
    random(file, "token_embd.weight", DIMENSIONS, tokens);
    ones(file, "output_norm.weight");
    for layer in 0..LAYERS {
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        ones(file, &name("attn_norm"));
        ones(file, &name("ffn_norm"));
        for part in ["attn_q", "attn_k", "attn_v", "attn_output"] {
            random(file, &name(part), DIMENSIONS, DIMENSIONS);
        }
        random(file, &name("ffn_gate"), DIMENSIONS, INNER);
        random(file, &name("ffn_up"), DIMENSIONS, INNER);
        random(file, &name("ffn_down"), INNER, DIMENSIONS);
    }
}

/// Xorshift: pseudorandom numbers from -1 to 1.
struct Xorshift(u32);

impl Xorshift {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 as f32 / u32::MAX as f32 * 2.0 - 1.0
    }
}

/// A file under construction.
#[derive(Default)]
struct Gguf {
    pairs: Vec<u8>,
    pair_count: u64,
    tensors: Vec<u8>,
    tensor_count: u64,
    numbers: Vec<u8>,
}

impl Gguf {
    fn pair(&mut self, key: &str, kind: u32, value: &[u8]) {
        self.pairs.extend(string(key));
        self.pairs.extend(kind.to_le_bytes());
        self.pairs.extend(value);
        self.pair_count += 1;
    }

    fn number(&mut self, key: &str, value: u32) {
        self.pair(key, U32, &value.to_le_bytes());
    }

    fn string(&mut self, key: &str, value: &str) {
        self.pair(key, STRING, &string(value));
    }

    fn array(&mut self, key: &str, kind: u32, length: usize, values: &[u8]) {
        let value = [&kind.to_le_bytes()[..], &(length as u64).to_le_bytes(), values].concat();
        self.pair(key, ARRAY, &value);
    }

    /// `shape` begins with the fastest varying dimension.
    fn tensor(&mut self, name: &str, shape: &[usize], numbers: &[f32]) {
        /// The tensor type of 32-bit floats.
        const FLOATS: u32 = 0;
        self.tensors.extend(string(name));
        self.tensors.extend((shape.len() as u32).to_le_bytes());
        self.tensors.extend(shape.iter().flat_map(|&size| (size as u64).to_le_bytes()));
        self.tensors.extend(FLOATS.to_le_bytes());
        self.tensors.extend((self.numbers.len() as u64).to_le_bytes());
        self.tensor_count += 1;
        self.numbers.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        align(&mut self.numbers);
    }

    fn into_bytes(self) -> Vec<u8> {
        const VERSION: u32 = 3;
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.tensor_count.to_le_bytes());
        bytes.extend(self.pair_count.to_le_bytes());
        bytes.extend(self.pairs);
        bytes.extend(self.tensors);
        align(&mut bytes);
        bytes.extend(self.numbers);
        bytes
    }
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

fn align(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
}
