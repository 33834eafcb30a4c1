//! The holes.

use syntax::Language;

/// A hole with the text that belongs there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What its file is called.
    pub path: &'static str,
    /// Its language.
    pub language: Language,
    /// Text before the hole.
    pub prefix: &'static str,
    /// What belongs there.
    pub truth: &'static str,
    /// Text behind it.
    pub suffix: &'static str,
    /// Whether the suffix alone decides: who does not see it writes something else. Where it does not, the prefix alone leads to the right
    /// beginning, and the suffix tells where to end.
    pub needs_suffix: bool,
}

/// Short enough for the smallest models and the slowest machines, and in three languages, so that none decides. No prefix ends with a
/// blank, which tokenizers would rather have at the beginning of what follows.
///
/// The first two differ in their suffixes alone. The first three tell most, for whoever asks no more.
pub static PROBES: [Probe; 6] = [
    Probe {
        path: "load.py",
        language: Language::Python,
        prefix: "def load(path):\n    with open(path) as",
        truth: " source",
        suffix: ":\n        return source.read()\n",
        needs_suffix: true,
    },
    Probe {
        path: "load.py",
        language: Language::Python,
        prefix: "def load(path):\n    with open(path) as",
        truth: " handle",
        suffix: ":\n        return handle.read()\n",
        needs_suffix: true,
    },
    Probe {
        path: "add.py",
        language: Language::Python,
        prefix: "def add(a, b):\n    return",
        truth: " a + b",
        suffix: "\n\n\nprint(add(1, 2))\n",
        needs_suffix: false,
    },
    Probe {
        path: "area.ts",
        language: Language::TypeScript,
        prefix: "function area(width: number, height: number): number {\n  return width * height;\n}\n\n\
                 console.log(area(2, 3",
        truth: ")",
        suffix: ");\n",
        needs_suffix: false,
    },
    Probe {
        path: "half.go",
        language: Language::Go,
        prefix: "package math\n\n// half returns the half of a number.\nfunc half(number int) int {\n",
        truth: "\tquotient := number / 2",
        suffix: "\n\treturn quotient\n}\n",
        needs_suffix: true,
    },
    Probe {
        path: "total.ts",
        language: Language::TypeScript,
        prefix: "export function total(prices: number[]): number {\n  let sum = 0;\n  for (const",
        truth: " price of prices",
        suffix: ") {\n    sum += price;\n  }\n  return sum;\n}\n",
        needs_suffix: false,
    },
];
