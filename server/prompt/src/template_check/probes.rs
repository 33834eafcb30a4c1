//! The probes: holes with known answers.

use syntax::Language;

/// A hole and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeHole {
    /// Name of its file.
    pub path: &'static str,
    /// Its language.
    pub language: Language,
    /// Text before the hole.
    pub prefix: &'static str,
    /// The right text.
    pub truth: &'static str,
    /// Text after the hole.
    pub suffix: &'static str,
    /// Whether only the suffix determines the text, so that a model that does not see it writes something else. Otherwise the
    /// prefix leads to the right beginning, and the suffix determines the end.
    pub needs_suffix: bool,
}

/// Short enough for the smallest models and the slowest machines, and in three languages, so that none dominates. No prefix ends
/// with a blank, because tokenizers prefer it at the beginning of the next token.
///
/// The first two differ only in their suffixes. The first three are the most telling, for callers that use no more.
pub static PROBES: [ProbeHole; 6] = [
    ProbeHole {
        path: "load.py",
        language: Language::Python,
        prefix: "def load(path):\n    with open(path) as",
        truth: " source",
        suffix: ":\n        return source.read()\n",
        needs_suffix: true,
    },
    ProbeHole {
        path: "load.py",
        language: Language::Python,
        prefix: "def load(path):\n    with open(path) as",
        truth: " handle",
        suffix: ":\n        return handle.read()\n",
        needs_suffix: true,
    },
    ProbeHole {
        path: "add.py",
        language: Language::Python,
        prefix: "def add(a, b):\n    return",
        truth: " a + b",
        suffix: "\n\n\nprint(add(1, 2))\n",
        needs_suffix: false,
    },
    ProbeHole {
        path: "area.ts",
        language: Language::TypeScript,
        prefix: "function area(width: number, height: number): number {\n  return width * height;\n}\n\n\
                 console.log(area(2, 3",
        truth: ")",
        suffix: ");\n",
        needs_suffix: false,
    },
    ProbeHole {
        path: "half.go",
        language: Language::Go,
        prefix: "package math\n\n// half returns the half of a number.\nfunc half(number int) int {\n",
        truth: "\tquotient := number / 2",
        suffix: "\n\treturn quotient\n}\n",
        needs_suffix: true,
    },
    ProbeHole {
        path: "total.ts",
        language: Language::TypeScript,
        prefix: "export function total(prices: number[]): number {\n  let sum = 0;\n  for (const",
        truth: " price of prices",
        suffix: ") {\n    sum += price;\n  }\n  return sum;\n}\n",
        needs_suffix: false,
    },
];
