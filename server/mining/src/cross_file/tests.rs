//! `cross_file` cases of small workspaces in several languages.

use std::sync::OnceLock;

use cases::{CrossFileContext, Origin, OriginKind, Task};
use expect_test::{Expect, expect};
use index::Index;
use syntax::Projects;

use super::*;
use crate::{HoleCandidates, MiningInput, Mix};

/// Parses the files of a fixture.
fn files(fixture: &str) -> Vec<SourceFile> {
    test_fixture::files(fixture)
        .into_iter()
        .map(|(path, text)| SourceFile {
            path: path.into(),
            language: Language::from_path(path).unwrap(),
            text: text.into(),
        })
        .collect()
}

fn options() -> MiningOptions {
    MiningOptions {
        cases: 300,
        seed: 1,
        scenarios: vec![Scenario::CrossFile],
        mix: Mix::Even,
        first_uses_only: true,
        origin: Origin::new(OriginKind::Mined, "t"),
    }
}

fn mine(files: &[SourceFile], options: &MiningOptions, judge: Option<&Judge<'_>>) -> Vec<Case> {
    mine_and_count(files, options, judge).0
}

/// Also returns the number of rejected places by reason.
fn mine_and_count(
    files: &[SourceFile],
    options: &MiningOptions,
    judge: Option<&Judge<'_>>,
) -> (Vec<Case>, LeftOut) {
    let sources = MiningInput {
        files,
        index: &Index::build(files),
        projects: &Projects::new(&[]),
        copies: &OnceLock::new(),
        candidates: &files.iter().map(HoleCandidates::of).collect::<Vec<_>>(),
    };
    let mined = crate::mine(&sources, options, judge);
    (mined.cases, mined.left_out)
}

/// Shows each hole: the rest of its first line, the truth, the rest of its last line, the target name and its definitions.
#[track_caller]
fn check(fixture: &str, expected: &Expect) {
    let cases = mine(&files(fixture), &options(), None);
    let lines = cases
        .iter()
        .filter(|case| case.task.cross_file_context() == Some(CrossFileContext::InFile))
        .map(|case| {
            let before = case.prefix.rsplit('\n').next().unwrap().trim_start();
            let truth = case.truth.split('\n').map(str::trim).collect::<Vec<_>>().join("⏎");
            let after = case.suffix.lines().next().unwrap_or_default();
            let unresolved = if case.tags[RESOLVED_TAG] == "no" { "?" } else { "" };
            let (entity, defined) = (&case.tags[ENTITY_TAG], &case.tags[DEFINED_TAG]);
            format!("{before}⟦{truth}⟧{after}  {entity}{unresolved}: {defined}\n")
        });
    expected.assert_eq(&lines.collect::<String>());
}

/// Returns this many lines of code without effect.
fn lines(number: usize, line: &str) -> String {
    format!("{line}\n").repeat(number)
}

const PYTHON: &str = "//- /shop/store.py
class Store:
    def __init__(self, path):
        self.path = path

    def load_all(self, limit):
        return []

def open_store(path):
    return Store(path)

def locked(path):
    return Store(path)
";

#[test]
fn python() {
    let filler = lines(10, "pass");
    check(
        &format!(
            "{PYTHON}//- /shop/main.py
from shop.store import Store, locked, open_store
{filler}
def main(path, size):
    store = Store(path)
    if store.load_all(size):
        print('x', open_store(path))
    store.load_all(size + 1)
    with locked(path) as rows:  # let go by itself
        pass
    return [
        open_store(
            path),
    ]
"
        ),
        &expect![[r#"
            ⟦store = Store(path)⟧  Store: shop/store.py:0 shop/store.py:1
            if store.⟦load_all(size):⟧  load_all: shop/store.py:4
            print⟦('x', open_store(path))⟧  open_store: shop/store.py:7
            ⟦with locked(path) as rows:⟧  # let go by itself  locked: shop/store.py:10
        "#]],
    );
}

#[test]
fn java() {
    let filler = lines(20, "    int a;");
    check(
        &format!(
            "//- /src/shop/Store.java
package shop;

public class Store {{
    public Store(String path) {{}}
    public int load(int limit) {{ return limit; }}
}}
//- /src/shop/Main.java
package shop;

class Main {{
{filler}
    private final Store first = new Store(\"a\");
    int run(int size) {{
        if (first.load(size) > 1) {{
            return 0;
        }}
        return 1 + first.load(size + 2);
    }}
}}
"
        ),
        &expect![[r#"
            private final ⟦Store first = new Store("a");⟧  Store: src/shop/Store.java:2 src/shop/Store.java:3
            if (first⟦.load(size) > 1) {⟧  load: src/shop/Store.java:4
        "#]],
    );
}

#[test]
fn rust() {
    let filler = lines(10, "// filler");
    check(
        &format!(
            "//- /src/store.rs
pub struct Store;

impl Store {{
    pub fn open(path: &str) -> Store {{
        Store
    }}

    pub fn load(&self, limit: usize) -> usize {{
        limit
    }}
}}
//- /src/main.rs
use crate::store::Store;
{filler}
fn main() {{
    let store = Store::open(\"a\");
    match store.load(1) {{
        0 => {{}}
        _ => store.load(2 + 1),
    }}
}}
"
        ),
        &expect![[r#"
            let store = ⟦Store::open("a");⟧  open: src/store.rs:3
            match store⟦.load(1) {⟧  load: src/store.rs:7
        "#]],
    );
}

#[test]
fn go() {
    let filler = lines(10, "// filler");
    check(
        &format!(
            "//- /store/store.go
package store

type Store struct{{}}

func Open(path string) *Store {{
\treturn &Store{{}}
}}

func (s *Store) Load(limit int) int {{
\treturn limit
}}
//- /main.go
package main
{filler}
import \"example.com/a/store\"

func run(size int) int {{
\ts := store.Open(\"a\")
\tif s.Load(size) > 1 {{
\t\treturn 0
\t}}
\treturn 1 + s.Load(size)
}}
"
        ),
        &expect![[r#"
            s := store.⟦Open("a")⟧  Open: store/store.go:4
            if s.⟦Load(size) > 1 {⟧  Load: store/store.go:8
        "#]],
    );
}

#[test]
fn typescript() {
    let filler = lines(30, "step();");
    check(
        &format!(
            "//- /src/store.ts
export class Store {{
  constructor(readonly path: string) {{}}
  load(limit: number): number {{
    return limit;
  }}
}}
//- /src/main.ts
import {{ Store }} from './store';
{filler}
function main(path: string) {{
  const store = new Store(path);
  if (store.load(1) > 2) {{
    return [3].map((limit) => {{ return store.load(limit); }});
  }}
}}
"
        ),
        &expect![[r#"
            const store = new ⟦Store(path);⟧  Store: src/store.ts:0 src/store.ts:1
            if (store.⟦load(1) > 2) {⟧  load: src/store.ts:2
        "#]],
    );
}

#[test]
fn c_sharp() {
    let filler = lines(5, "    int a;");
    check(
        &format!(
            "//- /Shop/Store.cs
namespace Shop;

public class Store
{{
    public Store(string path) {{ }}
    public int Load(int limit) => limit;
}}
//- /Shop/Program.cs
namespace Shop;

class Program
{{
{filler}
    static void Main()
    {{
        var store = new Store(\"a\");
        while (store.Load(1) > 2)
        {{
        }}
    }}
}}
"
        ),
        &expect![[r#"
            var store = ⟦new Store("a");⟧  Store: Shop/Store.cs:2 Shop/Store.cs:4
            while (⟦store.Load(1) > 2)⏎{⟧  Load: Shop/Store.cs:5
        "#]],
    );
}

#[test]
fn cpp() {
    let filler = lines(10, "int a;");
    check(
        &format!(
            "//- /store.hpp
class Store {{
public:
    Store(int size);
    int load(int limit);
}};
//- /main.cpp
#include \"store.hpp\"
{filler}
int main() {{
    Store store(1);
    if (store.load(2) > 1) {{
        return 0;
    }}
    return store.load(3);
}}
"
        ),
        &expect![[r#"
            ⟦Store store(1);⟧  Store: store.hpp:0 store.hpp:2
            ⟦if (store.load(2) > 1) {⟧  load: store.hpp:3
        "#]],
    );
}

#[test]
fn later_uses_are_mined_unless_first_uses_only() {
    let filler = lines(10, "pass");
    let body: String = (0..6).map(|number| format!("    one{number} = Store(path, {number})\n")).collect();
    let fixture =
        format!("{PYTHON}//- /shop/main.py\nfrom shop.store import Store\n{filler}def main(path):\n{body}");
    let holes = |first_uses_only| {
        mine(&files(&fixture), &MiningOptions { first_uses_only, ..options() }, None).len() / VARIANT_COUNT
    };
    assert_eq!((holes(true), holes(false)), (1, 6));
}

#[test]
fn short_long_and_duplicated_truths_are_left_out() {
    let fixture = |filler: usize, call: &str, other: &str| {
        let filler = lines(filler, "pass");
        format!(
            "{PYTHON}//- /shop/other.py\n{other}\n//- /shop/main.py\nfrom shop.store import open_store\n{filler}def main(path):\n    {call}\n"
        )
    };
    let reasons = |filler: usize, call: &str, other: &str| {
        let (cases, left_out) = mine_and_count(&files(&fixture(filler, call, other)), &options(), None);
        (cases.len(), left_out.into_iter().collect::<Vec<_>>())
    };
    let long = format!("open_store({})", ["path"; 15].join(", "));
    assert_eq!(reasons(10, "open_store(path, 1)", ""), (VARIANT_COUNT, vec![]));
    let without = |reason| (0, vec![(reason, 1)]);
    // Nine lines with code are before it.
    assert_eq!(reasons(7, "open_store(path, 1)", ""), without(UnanswerableReason::FewLines));
    assert_eq!(reasons(10, "open_store", ""), without(UnanswerableReason::TruthLength));
    assert_eq!(reasons(10, &long, ""), without(UnanswerableReason::TruthLength));
    let copied = reasons(10, "open_store(path, 1)", "open_store( path,1 ) # elsewhere");
    assert_eq!(copied, without(UnanswerableReason::InOtherFile));
}

#[test]
fn truth_that_occurs_elsewhere_or_repeats_is_left_out() {
    let filler = lines(10, "pass");
    let user = |name: &str| {
        format!(
            "//- /shop/{name}.py\nfrom shop.store import open_store\n{filler}def {name}(path):\n    a = open_store(path)\n"
        )
    };
    // The only common text of the two files is the truth.
    let fixture = format!("{PYTHON}{}{}", user("one"), user("two"));
    assert_eq!(mine(&files(&fixture), &options(), None), [], "found verbatim in another file");
    let again = ["pass", "return", "print(a)"]
        .map(|other| format!("    open_store(path, 1)\n    {other}\n"))
        .concat();
    let one = format!("{PYTHON}{}{again}", user("one"));
    let every_use = MiningOptions { first_uses_only: false, ..options() };
    let (cases, left_out) = mine_and_count(&files(&one), &every_use, None);
    let truths: BTreeSet<String> = cases.iter().map(|case| without_whitespace(&case.truth)).collect();
    assert_eq!(truths.len(), cases.len() / VARIANT_COUNT);
    assert_eq!(left_out.get(&UnanswerableReason::SameTruth), Some(&2), "{left_out:?}");
}

/// Retrieved context does not change with the hidden text, so retrieval did not read it.
#[test]
fn retrieved_context_does_not_depend_on_the_truth() {
    let filler = lines(10, "pass");
    let fixture = |canary: &str| {
        format!(
            "{PYTHON}\ndef {CANARY}(limit):\n    return limit\n\ndef other(limit):\n    return limit\n//- /shop/main.py\nfrom shop.store import open_store, other, {CANARY}\n{filler}def main(path):\n    open_store({canary}, 1)\n"
        )
    };
    let contexts = |canary: &str, context: CrossFileContext| {
        let cases = mine(&files(&fixture(canary)), &options(), None);
        let case = cases
            .into_iter()
            .find(|case| case.task.cross_file_context() == Some(context) && case.truth.contains(canary));
        case.expect("the statement is a hole").context
    };
    assert_eq!(contexts(CANARY, CrossFileContext::Retrieval), contexts("other", CrossFileContext::Retrieval));
    assert_ne!(contexts(CANARY, CrossFileContext::Oracle), contexts("other", CrossFileContext::Oracle));
}

const CANARY: &str = "yellow_bird_sings";

#[test]
fn suite_depends_on_the_seed_but_not_on_threads() {
    let filler = lines(10, "pass");
    let fixture = PYTHON.to_owned() + &(0..90).map(|number| {
        format!(
            "//- /shop/m{number}.py\nfrom shop.store import Store, open_store\n{filler}def main(path):\n    a{number} = open_store(path, {number})\n    b{number} = Store({number}, a{number})\n"
        )
    }).collect::<String>();
    let files = files(&fixture);
    let print = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = MiningOptions { seed, cases: 60, ..options() };
        let cases = pool.install(|| mine(&files, &options, None));
        assert_eq!(cases.len(), 60);
        cases.iter().map(cases::to_line).collect::<String>()
    };
    assert_eq!(print(1, 1), print(3, 1));
    assert_ne!(print(1, 1), print(1, 2));
}

#[test]
fn single_file_has_no_cross_file_cases() {
    let fixture = format!("//- /a.py\n{}a = len(b, 1)\nb.save_all(a)\n", lines(20, "pass"));
    assert_eq!(mine(&files(&fixture), &options(), None), []);
}

#[test]
fn each_hole_has_three_context_variants() {
    let filler = lines(10, "pass");
    let fixture = format!(
        "{PYTHON}//- /shop/main.py\nfrom shop.store import Store\n{filler}def main(path):\n    one = Store(path)\n    other = 1\n"
    );
    let cases = mine(&files(&fixture), &options(), None);
    let variants: Vec<_> = cases.iter().map(|case| case.task.cross_file_context().unwrap()).collect();
    assert_eq!(variants, [CrossFileContext::InFile, CrossFileContext::Retrieval, CrossFileContext::Oracle]);
    for case in &cases {
        assert_eq!(
            (&case.hole, &case.truth, &case.suffix),
            (&cases[0].hole, &cases[0].truth, &cases[0].suffix)
        );
        assert_eq!(
            case.context.is_empty(),
            case.task.cross_file_context() == Some(CrossFileContext::InFile),
            "{:?}",
            case.context
        );
        assert!(case.context.iter().all(|item| item.path != case.path && item.strategy == "hybrid"));
        assert_eq!(case.id, case.compute_id());
    }
}

#[test]
fn judge_drops_holes_answered_from_the_file_alone() {
    let filler = lines(10, "pass");
    let fixture = format!(
        "{PYTHON}//- /shop/main.py\nfrom shop.store import Store, open_store\n{filler}def main(path):\n    one = Store(path, 1)\n    other = open_store(path, 2)\n"
    );
    let is_right = |case: &Case| {
        assert_eq!((case.task, case.context.len()), (Task::IN_FILE, 0));
        case.truth.contains("Store(")
    };
    let judge = Judge { name: "oracle", is_right: &is_right };
    let (cases, left_out) = mine_and_count(&files(&fixture), &options(), Some(&judge));
    assert_eq!(cases.len(), VARIANT_COUNT);
    assert_eq!(left_out, LeftOut::from([(UnanswerableReason::KnownFromFile, 1)]));
    assert!(
        cases.iter().all(|case| case.tags[ENTITY_TAG] == "open_store" && case.tags[JUDGE_TAG] == "oracle")
    );
}

#[test]
fn token_count_includes_words_and_punctuation() {
    assert_eq!(count_tokens("store.load_all(größe + 1)"), 8);
    assert_eq!(count_tokens("'a b'"), 4);
    assert_eq!(count_tokens(" \n"), 0);
}

#[test]
fn names_seen_in_macros_or_defined_in_the_file_are_not_new() {
    let filler = lines(10, "// x\nfn a() {}");
    check(
        &format!(
            "//- /src/store.rs
pub fn open_store(path: u8) -> u8 {{ path }}
pub fn close_store(path: u8) -> u8 {{ path }}
pub struct Shelf;
impl Shelf {{ pub fn weigh_all(path: u8) {{}} }}
//- /src/main.rs
mod store;
use store::{{
    close_store, open_store,
}};
use store::Shelf;
{filler}
fn main() {{
    assert_eq!(open_store(1), 2);
    let opened = open_store(3);
    let closed = close_store(opened);
    Shelf::weigh_all(closed);
}}
struct Other;
impl Other {{ fn weigh_all(&self) {{}} }}
"
        ),
        &expect![[r#"
            ⟦let closed = close_store(opened);⟧  close_store: src/store.rs:1
            ⟦Shelf::weigh_all(closed);⟧  Shelf: src/store.rs:2
        "#]],
    );
    let filler = lines(10, "int x;");
    check(
        &format!(
            "//- /store.h
int open_store(int path);
int close_store(int path);
//- /main.c
#include \"store.h\"
#define OPENED open_store(1)
{filler}
int main(void) {{
    int opened = open_store(3);
    int closed = close_store(opened);
}}
"
        ),
        &expect![[r#"
            int ⟦closed = close_store(opened);⟧  close_store: store.h:1
        "#]],
    );
}
