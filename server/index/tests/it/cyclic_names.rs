//! Names that mean themselves, through any number of files, and chains of names of any length: every question ends, on a small stack.

use std::thread;

use index::{Index, RetrievalQuery, Strategy, TokenBudget};
use syntax::{Projects, SourceFile};

use crate::fixture::{files, manifests};

/// The smallest stack that a thread of ours has anywhere. Debug builds need about three times as much of it as release builds do.
const STACK_BYTES: usize = 512 << 10;

/// Asks everything about every file on a small stack: uses, and what each strategy finds at the end of each line.
#[track_caller]
fn check(fixture: &str) {
    check_files(files(fixture), Projects::new(&manifests(fixture)));
}

#[track_caller]
fn check_files(files: Vec<SourceFile>, projects: Projects) {
    let asking = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let searcher = Index::build(&files).hide(&[]);
        for file in files.iter().take(MOST_FILES) {
            let tree = syntax::parse(file.language, &file.text);
            searcher.cross_file_uses(&projects, file, &tree);
            for (at, _) in file.text.match_indices(['\n', '.']).take(MOST_CURSORS) {
                let (prefix, suffix) = file.text.split_at(at + 1);
                let query =
                    RetrievalQuery { path: &file.path, language: file.language, prefix, suffix, recent: &[] };
                for strategy in Strategy::ALL {
                    searcher.retrieve(strategy, &projects, &query, TokenBudget { tokens: 1_000 });
                }
            }
        }
    });
    asking.expect("a thread can be started").join().expect("every question ends");
}

/// Files that are asked about, of chains of many.
const MOST_FILES: usize = 4;
/// Cursors in each of them.
const MOST_CURSORS: usize = 3;

#[test]
fn self_referential_types_resolve_in_bounded_time() {
    check("//- /a.ts\ntype T = T.A;\nlet t: T;\nt.\n//- /b.ts\nimport { T } from './a';\nlet u: T;\nu.b.c\n");
    check("//- /a.ts\ntype A = B.X;\ntype B = A.Y;\nlet a: A;\na.b.\n//- /b.ts\nexport type C = A.B.C;\n");
    check("//- /a.py\nclass T(T.A):\n    def f(self):\n        return self.g().\n");
    check(
        "//- /a.py\nfrom b import U\nclass T(U.A): pass\nt = T()\nt.x\n//- /b.py\nfrom a import T\nclass U(T.B):\n    pass\n",
    );
    check(
        "//- /A.java\nclass A implements A.B { interface B { void f(); } void g() { this.f(); } }\n//- /B.java\nclass C extends A.B { A a; }\n",
    );
    check(
        "//- /A.cs\nclass A : A.B { interface B { void F(); } void G() { this.F(); } }\n//- /B.cs\nclass C : A.B.D { A a; }\n",
    );
    check(
        "//- /a.rs\ntype A = B::X;\ntype B = A::Y;\nfn f(a: A) { a.b() }\n//- /b.rs\nuse crate::a::A;\nfn g(a: A) { a.b() }\n",
    );
    check(
        "//- /a/a.go\npackage a\ntype A B.X\ntype B A.Y\nfunc (a A) F() B { return a.F().F() }\n//- /b/b.go\npackage b\nimport \"a\"\nfunc f(x a.A) { x.F() }\n",
    );
    check(
        "//- /a.h\ntypedef B A;\ntypedef A B;\nstruct S : S::T { A a; };\n//- /a.cpp\n#include \"a.h\"\nvoid f(S s, A a) { s.a.b; a.c(); }\n",
    );
}

#[test]
fn mutual_reexports_resolve_in_bounded_time() {
    check(
        "//- /a.ts\nexport * from './b';\nexport { x } from './b';\nimport { y } from './b';\ny.z.\n//- /b.ts\nexport * from './a';\nexport { y, x } from './a';\n",
    );
    check(
        "//- /p/__init__.py\nfrom p.q import *\nfrom p import q\nq.z.y\n//- /p/q.py\nfrom p import *\nfrom p import q as z\nfrom p.q import z as q\n",
    );
    check(
        "//- /src/a.rs\npub use crate::b::*;\npub use crate::b::c as d;\nfn f() { d::g() }\n//- /src/b.rs\npub use crate::a::*;\npub use crate::a::d as c;\n",
    );
    check(
        "//- /a.cs\nusing N = M.N;\nusing M = N.M;\nnamespace N { class A : M.N.A { void F() { N.M.A.F(); } } }\n//- /b.cs\nnamespace M { class B : N.M.B { } }\n",
    );
    check(
        "//- /a.h\n#include \"b.h\"\nnamespace a { using namespace b; struct S : b::S {}; }\n//- /b.h\n#include \"a.h\"\nnamespace b { using namespace a; struct S : a::S {}; }\n",
    );
}

/// Files of which each one's type or module is the next one's, and the last one's the first one's.
fn ring(count: usize, ending: &str, text: impl Fn(usize, usize) -> String) -> Vec<SourceFile> {
    let sections = (0..count).map(|number| {
        let next = (number + 1) % count;
        format!("//- /m{number}.{ending}\n{}", text(number, next))
    });
    files(&sections.collect::<String>())
}

#[test]
fn long_cycles_across_files_resolve_in_bounded_time() {
    for count in [3, 40, 200] {
        let rings = [
            ring(count, "py", |number, next| {
                format!(
                    "from m{next} import T{next}\nclass T{number}(T{next}.T{next}):\n    def f(self) -> T{next}.A: pass\nT{number}().f().\n"
                )
            }),
            ring(count, "ts", |number, next| {
                format!(
                    "import {{ T{next} }} from './m{next}';\nexport {{ T{next} as U{number} }} from './m{next}';\nexport type T{number} = T{next}.A;\nlet x: T{number};\nx.y.\n"
                )
            }),
            ring(count, "java", |number, next| {
                format!(
                    "class T{number} extends T{next}.A {{ T{next}.B f() {{ return this.f().f(); }} interface C{number} {{}} }}\n"
                )
            }),
            ring(count, "cs", |number, next| {
                format!(
                    "class T{number} : T{next}.A {{ T{next}.B F() {{ return this.F().F(); }} interface C{number} {{}} }}\n"
                )
            }),
        ];
        rings.into_iter().for_each(|files| check_files(files, Projects::default()));
    }
}

#[test]
fn types_with_many_bases_resolve_in_bounded_time() {
    let bases = (0..12).map(|base| format!("T{base}.A.B")).collect::<Vec<_>>().join(", ");
    let types = (0..12).map(|number| format!("class T{number}({bases}):\n    f: T{number}.A.C\n"));
    check(&format!("//- /a.py\n{}T0.f.g\n", types.collect::<String>()));
}

#[test]
fn very_long_paths_resolve_in_bounded_time() {
    let path = |sign: &str| format!("a{sign}").repeat(5_000) + "a";
    check(&format!("//- /A.java\nimport {0};\nimport {0}.*;\nclass A extends {0} {{ }}\n", path(".")));
    check(&format!("//- /a.cs\nusing {0};\nnamespace {0} {{ class A : {0} {{ }} }}\n", path(".")));
    check(&format!("//- /a.py\nimport {0}\nfrom {0} import b\nclass A({0}):\n    x: {0}\n", path(".")));
    check(&format!("//- /a.rs\nuse {0};\nimpl {0} for A {{ }}\nfn f(x: {0}) {{ x.y }}\n", path("::")));
    check(&format!("//- /a.cpp\nusing namespace {0};\nstruct A : {0} {{ }};\n{0} x;\n", path("::")));
    check(&format!("//- /a.ts\nimport A = {0};\nclass B extends {0} {{ }}\nlet x: {0};\n", path(".")));
    check(&format!("//- /a.go\npackage a\nimport \"{0}\"\nvar x {0}\n", path("/")));
}

#[test]
fn deeply_nested_definitions_resolve_in_bounded_time() {
    let nested = |open: &str, close: &str| open.repeat(3_000) + "void f(){}" + &close.repeat(3_000);
    let text = nested("class A { ", "}");
    check(&format!(
        "//- /a/A.java\n{text}\n//- /b/A.java\n{text}\n//- /b/B.java\nclass B {{ A.A.A a; void g() {{ a.f(); }} }}\n"
    ));
    let text = nested("namespace N { class A { ", "} }");
    check(&format!("//- /a.cs\n{text}\n//- /b.cs\n{text}\n"));
}
