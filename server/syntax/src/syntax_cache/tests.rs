//! The cache returns what a fresh computation returns, whatever was asked before, and parses each text once.

use std::sync::{Arc, Barrier};
use std::thread;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::SyntaxCache;
use crate::scope::close_prefix;
use crate::{Language, LanguageFamily, Tree, lex, lexed_bytes, parse_counts, scope};

const SOURCES: [(Language, &str); 10] = [
    (
        Language::Python,
        "import a\nfrom b import C, d\n\nclass A(C):\n    '''Doc é.'''\n    x: int = 1\n\n    def f(self, y=[1]):\n        for z in y:\n            if z:\n                return d(self.x, '😀')\n        while True: break\n\nprint(A().f([1]))\n",
    ),
    (
        Language::TypeScript,
        "import { a, type B } from 'b';\n\nexport class A<T extends B> {\n  private x: Map<string, T> = new Map();\n  async f(y: T): Promise<void> {\n    try { await a(`é${y}`); } catch (e) { throw e; }\n    const z = y < 1 ? (q: T) => q : /a[b/]/;\n  }\n}\n\nconst h = (y: number) => { for (const z of y) { console.log('😀'); } };\n",
    ),
    (
        Language::Tsx,
        "import { a } from 'b';\n\nexport function V({ x, y }: P) {\n  const [s, t] = useState<number>(1);\n  return <div className={x} {...y}>é {s > 1 ? <b>1 &amp; 2</b> : <></>}</div>;\n}\n",
    ),
    (
        Language::JavaScript,
        "const { a, b: c } = require('./d');\n\nclass A extends B {\n  #x = 1;\n  static *f(y) { yield* y; }\n}\n\nmodule.exports = function (z) {\n  var q = z / 2 / 3, r = `a${q}`;\n  switch (q) { case 1: return { a, [r]: 2 }; default: }\n};\n",
    ),
    (
        Language::Java,
        "package a;\r\nimport b.C;\r\n\r\n/** Doc é. */\r\nclass A<T> extends C {\r\n  private List<T> x = new ArrayList<>() {{ add(null); }};\r\n  @D int f(int y) throws E {\r\n    for (int z : g(y)) { if (z > 1) return z; }\r\n    return \"😀\".length();\r\n  }\r\n}\r\n",
    ),
    (
        Language::CSharp,
        "using A.B;\nnamespace N;\n\n#if DEBUG\n/// <summary>Doc é.</summary>\n#endif\npublic class C<T> : D where T : new()\n{\n    public int X { get; set; } = 1;\n    int F(T y) => y is { } z ? $\"{z}😀\".Length : default;\n    async Task G() { foreach (var q in await H()) { lock (q) { } } }\n}\n",
    ),
    (
        Language::Rust,
        "use a::{b, C as D};\n\n/// Doc.\n#[test]\nfn f<'a>(x: &'a u8) -> Vec<D> {\n    let s = r#\"é😀\"#;\n    if *x > 1 { g(s) } else { match x { 0 => vec![1], _ => Vec::<D>::new() } }\n}\n\nimpl A { fn h(&self) { let Some(y) = self.z else { return }; } }\nmacro_rules! m { ($x:expr) => { fn k() {} } }\n",
    ),
    (
        Language::Go,
        "package a\n\nimport \"b\"\n\ntype T struct { x map[string]int }\n\n// Doc é.\nfunc (t *T) F(y int) (int, error) {\n\tfor _, z := range g(y) {\n\t\tswitch z {\n\t\tcase '😀':\n\t\t\treturn t.x[`a`], nil\n\t\t}\n\t}\n\treturn 0, b.E{}\n}\n",
    ),
    (
        Language::C,
        "#include <a.h>\n#define M(x) do { x; } while (0)\n\nstruct s { int a; char *b; };\n\n/* Doc é. */\nstatic int f(struct s *p, int n) {\n#ifdef X\n  for (int i = 0; i < n; i++) { M(p->a += i); }\n#else\n  if (n) return p->a * n;\n#endif\n  return sizeof(\"😀\");\n}\n",
    ),
    (
        Language::Cpp,
        "#include <a>\n\nnamespace n {\n/* Doc é. */\ntemplate <typename T> class A : public B<T> {\n public:\n  A() : x{1} {}\n  int f(int y) const { while (y --> 0) { try { g(\"😀\"); } catch (...) {} } return y; }\n private:\n  std::map<T, int> x;\n};\n}\n",
    ),
];

/// Returns the source with a function at its end that the parser recovers in.
fn with_error(language: Language, source: &str) -> String {
    let function = match language {
        Language::Python => "def broken(x):\n    return x y\n",
        Language::Go => "func broken(x int) int { return x y }\n",
        Language::Rust => "fn broken(x: u8) -> u8 { x y }\n",
        Language::Java | Language::CSharp => "class Broken { int f(int x) { return x y; } }\n",
        Language::C | Language::Cpp => "LIST(broken)\nint f(int x) { return x y; }\nEND\n",
        _ => "function broken(x) { return x y; }\n",
    };
    format!("{source}{function}")
}

/// What happens to the document before a request.
#[derive(Clone, Debug)]
enum Change {
    /// A part of the document is typed again at the cursor, with a request at each character.
    Type { from: Index, length: usize },
    /// A text replaces some characters.
    Replace { at: Index, length: usize, text: String },
    /// Nothing; the cursor jumps.
    Jump(Index),
    /// Code is typed at the cursor, with a request at each character.
    Write(String),
}

fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<Index>(), 1..12_usize).prop_map(|(from, length)| Change::Type { from, length }),
        (any::<Index>(), 0..16_usize, "([a-z]|[(){}:;.,\"'`<>\n #/*é]){0,5}")
            .prop_map(|(at, length, text)| Change::Replace { at, length, text }),
        any::<Index>().prop_map(Change::Jump),
        "(if |for |return |x|= |f|\\(|\\)|\\.|a|, |\\{|\\}|\\[|:|;|\"|'|\n    |\n| < |class |else |-> ){1,6}"
            .prop_map(Change::Write),
    ]
}

/// A document with its cursor and its cache.
struct Editor {
    language: Language,
    text: String,
    cursor: usize,
    cache: SyntaxCache,
}

impl Editor {
    fn new(language: Language, text: &str) -> Editor {
        Editor { language, text: text.to_owned(), cursor: 0, cache: SyntaxCache::default() }
    }

    fn place(&self, place: Index) -> usize {
        self.text.floor_char_boundary(place.index(self.text.len() + 1))
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Type { from, length } => {
                let from = self.place(from);
                let typed: Vec<char> = self.text[from..].chars().take(length).collect();
                for key in typed {
                    self.text.insert(self.cursor, key);
                    self.cursor += key.len_utf8();
                    self.check();
                }
            }
            Change::Replace { at, length, text } => {
                let start = self.place(at);
                let end = self.text.ceil_char_boundary((start + length).min(self.text.len()));
                self.text.replace_range(start..end, &text);
                self.cursor = start + text.len();
            }
            Change::Jump(to) => self.cursor = self.place(to),
            Change::Write(typed) => {
                for key in typed.chars() {
                    self.text.insert(self.cursor, key);
                    self.cursor += key.len_utf8();
                    self.check();
                }
            }
        }
        self.check();
    }

    /// Checks the results for the present text.
    #[track_caller]
    fn check(&self) {
        let prefix = &self.text[..self.cursor];
        assert_eq!(*self.cache.scope(self.language, prefix), scope(self.language, prefix), "{prefix}");
        let text: Arc<str> = self.text.as_str().into();
        // A background thread reads some of the texts, before or after a request.
        let follow = || self.cache.background_tree(self.language, &text).root().to_sexp();
        let followed = (self.text.len().is_multiple_of(3)).then(follow);
        let (kept, fresh) = (self.cache.tree(self.language, &text), crate::parse(self.language, &text));
        assert_eq!(kept.root().to_sexp(), fresh.root().to_sexp(), "{text}");
        let followed = followed.or_else(|| (self.text.len() % 3 == 1).then(follow));
        assert!(followed.is_none_or(|followed| followed == fresh.root().to_sexp()), "{text}");
        assert_eq!(
            *self.cache.outline_of_head(self.language, prefix),
            crate::parse(self.language, prefix).outline(prefix)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn results_do_not_depend_on_earlier_texts(
        (language, source) in select(SOURCES.to_vec()),
        has_errors in any::<bool>(),
        changes in proptest::collection::vec(any_change(), 1..8),
    ) {
        let source = if has_errors { with_error(language, source) } else { source.to_owned() };
        // Long enough that most of it is reused.
        let mut editor = Editor::new(language, &source.repeat(6));
        for change in changes {
            editor.apply(change);
        }
    }
}

proptest! {
    /// Also where it would be faster to parse more.
    #[test]
    fn scopes_with_known_items_are_those_of_a_fresh_parse(
        (language, source) in select(SOURCES.to_vec()),
        has_error in any::<bool>(),
        at in any::<Index>(),
        typed in "([a-z]|[(){}:;.,\"'`<>\n #/*é]){0,9}",
    ) {
        let rest = if has_error { with_error(language, source) } else { source.to_owned() };
        let text = [&*source.repeat(5), &rest, source].concat();
        let cache = SyntaxCache::default();
        cache.scope(language, &text);
        let prefix = [&text[..text.floor_char_boundary(at.index(text.len() + 1))], &typed].concat();
        let closed = close_prefix(language, &prefix, &lex(language, &prefix));
        let known = cache.entries().known_items.clone();
        for found in known.iter().flat_map(|known| known.scopes(&closed, prefix.len())) {
            prop_assert_eq!(&found, &scope(language, &prefix), "{}", prefix);
        }
    }
}

/// A package or namespace reaches to the end of the file, so nothing behind it is known without its node.
#[test]
fn known_items_are_used_in_files_without_packages() {
    let function = |language: Language, number: usize| match language.family() {
        LanguageFamily::Script => format!("function f{number}(a) {{\n  return a + {number};\n}}\n"),
        LanguageFamily::Rust => format!("fn f{number}(a: u8) -> u8 {{\n    a + {number}\n}}\n"),
        _ if language == Language::Python => format!("def f{number}(a):\n    return a + {number}\n"),
        _ if language == Language::Go => format!("func f{number}(a int) int {{\n\treturn a + {number}\n}}\n"),
        LanguageFamily::C => format!("int f{number}(int a) {{\n  return a + {number};\n}}\n"),
        _ => format!("class F{number} {{\n  int f(int a) {{\n    return a + {number};\n  }}\n}}\n"),
    };
    let knows = |language: Language| {
        let text: String = (0..60).map(|number| function(language, number)).collect();
        let prefix = &text[..text.rfind("59").expect("the last number")];
        let cache = SyntaxCache::default();
        cache.scope(language, prefix);
        let closed = close_prefix(language, prefix, &lex(language, prefix));
        let known = cache.entries().known_items.clone();
        known.is_some_and(|known| known.scopes(&closed, prefix.len()).next().is_some())
    };
    let without: Vec<Language> = Language::ALL.into_iter().filter(|&language| !knows(language)).collect();
    // There, a text that is closed in a class has an error.
    assert_eq!(without, [Language::CSharp]);
}

/// A guard on counted work: a key behind many functions parses the last ones only.
#[test]
fn typing_behind_many_functions_parses_the_last_ones() {
    let function = |number: usize| format!("def f{number}(a):\n    return a + {number}\n\n\n");
    let work_behind = |functions: usize| {
        let mut typed: String = (0..functions).map(function).collect();
        let cache = SyntaxCache::default();
        cache.scope(Language::Python, &typed);
        let before = parse_counts().work;
        for key in "f1(f2, f3.x".chars() {
            typed.push(key);
            cache.scope(Language::Python, &typed);
        }
        parse_counts().work - before
    };
    let (few, many) = (work_behind(200), work_behind(2_000));
    assert!(many < few * 11 / 10, "{many} and {few}");
}

/// Counts of the process: nextest runs each test in its own.
#[test]
fn one_text_is_parsed_once() {
    let source = SOURCES[0].1;
    let (cache, text) = (SyntaxCache::default(), Arc::from(source));
    let ask = || {
        let before = parse_counts().parses;
        cache.scope(Language::Python, source);
        cache.tree(Language::Python, &text);
        cache.outline_of_head(Language::Python, source);
        parse_counts().parses - before
    };
    assert_eq!([ask(), ask()], [3, 0]);
}

#[test]
fn a_background_thread_shares_trees_and_changes_none() {
    let source = SOURCES[0].1;
    let cache = SyntaxCache::default();
    let text = |end: &str| -> Arc<str> { [source, end].concat().into() };
    let parses_of = |read: &dyn Fn() -> Tree| {
        let before = parse_counts().parses;
        let tree = read();
        (parse_counts().parses - before, tree.root().to_sexp())
    };
    let (old, new) = (text("a = 1\n"), text("a = 1\nb = 2\n"));
    let ask = |text: &Arc<str>| parses_of(&|| cache.tree(Language::Python, text));
    let follow = |text: &Arc<str>| parses_of(&|| cache.background_tree(Language::Python, text));
    assert_eq!([follow(&old).0, ask(&old).0, ask(&new).0, follow(&new).0], [1, 0, 1, 0]);
    // A thread that is behind does not displace the newest text.
    let middle = text("a = 1\nb");
    assert_eq!([follow(&middle).0, ask(&new).0, follow(&middle).0], [1, 0, 0]);
    let fresh = crate::parse(Language::Python, &middle);
    assert_eq!(follow(&middle).1, fresh.root().to_sexp());
}

/// Counts of the process: nextest runs each test in its own.
#[test]
fn threads_that_ask_at_once_lex_a_text_once() {
    let text = SOURCES[0].1.repeat(200);
    let with_probe = format!("{text}x");
    let cache = SyntaxCache::default();
    let barrier = Barrier::new(4);
    let before = lexed_bytes();
    thread::scope(|scope| {
        for asked in [&text, &with_probe, &text, &with_probe] {
            let (cache, barrier) = (cache.clone(), &barrier);
            scope.spawn(move || {
                barrier.wait();
                cache.lexed(Language::Python, asked)
            });
        }
    });
    let lexed = lexed_bytes() - before;
    assert!(lexed < text.len() as u64 * 11 / 10, "{lexed} of {}", text.len());
}

#[test]
fn text_behind_a_cursor_is_kept_with_its_closers() {
    let (cache, behind) = (SyntaxCache::default(), " + f(1));\n    }\n}\n");
    let lexed = cache.lexed(Language::Java, behind);
    assert_eq!(lexed.unopened_closers(), Some(&b")}}"[..]));
    cache.lexed(Language::Java, "class A { void f() { print(1");
    assert!(Arc::ptr_eq(&lexed, &cache.lexed(Language::Java, behind)));
}

#[test]
fn text_that_somebody_reads_stays_as_it_is() {
    let cache = SyntaxCache::default();
    let before = SOURCES[0].1.repeat(3);
    let read = cache.lexed(Language::Python, &before);
    cache.lexed(Language::Python, &format!("{before}x = 1\n"));
    assert_eq!(read.tokens(), crate::lex(Language::Python, &before));
}

#[test]
fn cache_is_shared_by_its_clones() {
    let cache = SyntaxCache::default();
    let scope = cache.clone().scope(Language::Go, "package a\n");
    assert!(Arc::ptr_eq(&scope, &cache.scope(Language::Go, "package a\n")));
}

#[test]
fn a_fork_knows_what_was_computed_and_changes_nothing() {
    let cache = SyntaxCache::default();
    let known = cache.scope(Language::Go, "package a\n");
    let fork = cache.fork();
    assert!(Arc::ptr_eq(&known, &fork.scope(Language::Go, "package a\n")));
    fork.scope(Language::Go, "package b\n");
    assert!(Arc::ptr_eq(&known, &cache.scope(Language::Go, "package a\n")));
}

/// A guard on counted work: while code is typed, a request parses the text near the cursor. Nodes of a statement that the parser reads in
/// two ways (`print (x)` in Python) are never reused.
#[test]
fn typing_parses_the_text_near_the_cursor() {
    let mut found = Vec::new();
    for (language, source) in SOURCES {
        // As in many real files, the parser has recovered from errors before the cursor. In some languages it keeps two readings of the text
        // behind such an error, and then reuses nothing.
        let mut typed = match language.family() {
            LanguageFamily::Script | LanguageFamily::Rust => source.repeat(60),
            _ => with_error(language, source).repeat(60),
        };
        let cache = SyntaxCache::default();
        let work = |prefix: &str| {
            let before = parse_counts().work;
            cache.scope(language, prefix);
            parse_counts().work - before
        };
        let whole = work(&typed);
        let mut again: Vec<u64> = Vec::new();
        for key in source.chars().take(40) {
            typed.push(key);
            again.push(100 * work(&typed) / whole);
        }
        again.sort_unstable();
        found.push((language, again[again.len() / 2]));
    }
    assert!(found.iter().all(|(_, median)| *median <= 50), "percent of a full parse: {found:?}");
}

/// A guard on counted work: in code without errors, a request parses only what the edit touches.
#[test]
fn typing_in_valid_code_parses_the_edit() {
    let work_of_keys = |end: &str| {
        let statements = "total = total + price * count\n";
        let mut typed = [&*statements.repeat(20), end].concat();
        let cache = SyntaxCache::default();
        cache.scope(Language::Python, &typed);
        let before = parse_counts().work;
        for key in "value".chars() {
            typed.push(key);
            cache.scope(Language::Python, &typed);
        }
        parse_counts().work - before
    };
    let [valid, broken] = ["total = ", "total = )("].map(work_of_keys);
    assert!(valid * 2 < broken, "{valid} and {broken}");
}
