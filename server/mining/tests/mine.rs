//! Mining small repositories and the crate's own sources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use cases::{BlockKind, Case, CompletionTask, MissingTail, Origin, OriginKind, Scenario, Task, to_line};

const FUNCTION_TAIL: Task = Task::Complete(CompletionTask::IncompleteSuffix(MissingTail::FunctionTail));
const FILE_TAIL: Task = Task::Complete(CompletionTask::IncompleteSuffix(MissingTail::FileTail));
use index::Index;
use mining::{HoleCandidates, MiningInput, MiningOptions, MiningResult, Mix, UnanswerableReason};
use syntax::{Language, Projects, SourceFile};

const PYTHON: &str = r#"import os


class Store:
    def load(self, path):
        """Reads a store."""
        if not os.path.exists(path):
            self.items = {}
            return None
        for line in open(path):
            key, value = line.split("=", 1)
            self.items[key] = value.strip()
        return self.items

    def save(self, path):
        total = 0
        with open(path, "w") as out:
            for key, value in self.items.items():
                out.write(key + "=" + value)
                total += len(value)
        while total > 100:
            total -= 1
            self.shrink(total)
        try:
            os.sync()
            self.clean = True
        except OSError as error:
            self.clean = False
            raise error
        return total
"#;

const RUST: &str = r#"use std::collections::HashMap;

/// Counts words.
pub fn count(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for word in text.split(' ') {
        if word.is_empty() {
            continue;
        }
        *counts.entry(word.to_owned()).or_insert(0) += 1;
    }
    counts
}

pub fn count_lines(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for line in text.lines() {
        let line = line.trim();
        *counts.entry(line.to_owned()).or_insert(0) += 1;
    }
    counts
}
"#;

fn files() -> Vec<SourceFile> {
    let other = RUST.replace("count", "tally").replace("trim()", "trim_end()");
    let mut files: Vec<SourceFile> = vec![
        file("a/store.py", Language::Python, PYTHON),
        file("b/count.rs", Language::Rust, RUST),
        file("c/tally.rs", Language::Rust, &other),
    ];
    // CRLF and tabs must be preserved.
    let windows = PYTHON
        .replace('\n', "\r\n")
        .replace("    ", "\t")
        .replace("Store", "Lager")
        .replace("value", "größe");
    files.push(file("d/lager.py", Language::Python, &windows));
    files
}

/// Returns variations of the files with other paths and other text before them, so that they are no copies.
fn variations(number: usize) -> impl Iterator<Item = SourceFile> {
    files().into_iter().map(move |file| SourceFile {
        path: format!("{number}/{}", file.path).into(),
        text: format!("NUMBER = {number};\n{}", file.text).into(),
        ..file
    })
}

fn file(path: &str, language: Language, text: &str) -> SourceFile {
    SourceFile { path: path.into(), language, text: text.into() }
}

fn options(cases: usize, seed: u64) -> MiningOptions {
    let origin = Origin::new(OriginKind::Mined, "t");
    MiningOptions { cases, seed, scenarios: IN_FILE.to_vec(), mix: Mix::Even, first_uses_only: true, origin }
}

/// The scenarios of Codev-Bench that need only one file.
const IN_FILE: [Scenario; 4] =
    [Scenario::FullBlock, Scenario::InnerBlock, Scenario::IncompleteSuffix, Scenario::Rag];

fn mine(files: &[SourceFile], options: &MiningOptions) -> MiningResult {
    mine_with(files, options, &files.iter().map(HoleCandidates::of).collect::<Vec<_>>())
}

fn mine_with(files: &[SourceFile], options: &MiningOptions, candidates: &[HoleCandidates]) -> MiningResult {
    let sources = MiningInput {
        files,
        index: &Index::build(files),
        projects: &Projects::new(&[]),
        copies: &OnceLock::new(),
        candidates,
    };
    mining::mine(&sources, options, None)
}

#[test]
fn only_sampled_files_are_parsed() {
    let files: Vec<SourceFile> = (0..25).flat_map(variations).collect();
    let scenarios = vec![Scenario::FullBlock, Scenario::InnerBlock];
    let mined = mine(&files, &MiningOptions { scenarios, ..options(8, 1) });
    assert_eq!(mined.cases.len(), 8);
    // A rejected hole costs a file, too.
    assert!(mined.parses <= 16, "{} of {} files", mined.parses, files.len());
}

/// A guard on counted work, in files whose functions are mostly copies of each other, so that many holes are rejected. Counts of the
/// process: nextest runs each test in its own.
#[test]
fn cases_with_similar_functions_parse_no_file_twice() {
    let files: Vec<SourceFile> = (0..25).flat_map(variations).collect();
    let candidates: Vec<HoleCandidates> = files.iter().map(HoleCandidates::of).collect();
    let sources = MiningInput {
        files: &files,
        index: &Index::build(&files),
        projects: &Projects::new(&[]),
        copies: &OnceLock::new(),
        candidates: &candidates,
    };
    let before = syntax::parse_counts().parses;
    let mined =
        mining::mine(&sources, &MiningOptions { scenarios: vec![Scenario::Rag], ..options(8, 1) }, None);
    let parses = syntax::parse_counts().parses - before;
    assert_eq!(mined.cases.len(), 8);
    assert!(parses <= files.len() as u64, "{parses} parses for {} files", files.len());
}

#[test]
fn damaged_candidates_cost_a_parse_each_and_change_no_case() {
    let files = files();
    let damaged = vec![HoleCandidates::from_bytes(&[255; 3]); files.len()];
    let found = mine_with(&files, &options(12, 1), &damaged);
    let expected = mine(&files, &options(12, 1));
    assert_eq!(found.cases, expected.cases);
    assert_eq!(found.left_out, expected.left_out);
    assert_eq!(found.parses, expected.parses + files.len());
}

fn mine_from(files: &[SourceFile], options: &MiningOptions) -> Vec<Case> {
    mine(files, options).cases
}

#[test]
fn prefix_truth_and_suffix_match_the_file() {
    let files = files();
    let cases = mine_from(&files, &options(60, 1));
    assert!(cases.len() > 10, "{}", cases.len());
    for case in &cases {
        let text = &*files.iter().find(|file| *file.path == *case.path).unwrap().text;
        assert_eq!(&text[case.byte_range.clone()], case.truth);
        let before = &text[..case.byte_range.start];
        match case.task {
            Task::EMPTY => {
                let fresh_line = case.prefix.strip_prefix(before).unwrap();
                assert_eq!(fresh_line.trim(), "");
                assert_eq!(fresh_line.contains('\r'), text.contains('\r'), "{fresh_line:?}");
                assert!(case.truth.is_empty());
            }
            _ => assert_eq!(case.prefix, before),
        }
        assert!(text.ends_with(&case.suffix));
        let lines: Vec<&str> = case.prefix.split('\n').collect();
        assert_eq!(case.line as usize, lines.len() - 1);
        assert_eq!(case.character as usize, lines[lines.len() - 1].encode_utf16().count());
        assert_eq!(case.id, case.compute_id());
    }
}

#[test]
fn truth_has_at_most_sixty_lines_and_empty_variant_has_none() {
    let long_body: String = (0..80).map(|i| format!("    step_{i}(value, {i})\n")).collect();
    let long = format!(
        "def long(value):\n{long_body}\n\ndef short(value):\n    one(value, 1)\n    return two(value)\n"
    );
    for case in mine_from(&[file("long.py", Language::Python, &long)], &options(40, 3)) {
        let lines = case.truth.lines().count();
        let allowed = if case.task == Task::EMPTY { 0..=0 } else { 1..=60 };
        assert!(allowed.contains(&lines), "{} lines in {:?}", lines, case.task);
    }
}

#[test]
fn incomplete_suffix_cases_omit_the_tail() {
    let files = files();
    let cases =
        mine_from(&files, &MiningOptions { scenarios: vec![Scenario::IncompleteSuffix], ..options(40, 1) });
    let variants: BTreeSet<_> = cases.iter().map(|case| case.task).collect();
    assert_eq!(variants, [FUNCTION_TAIL, FILE_TAIL].into());
    for case in &cases {
        let text = &*files.iter().find(|file| *file.path == *case.path).unwrap().text;
        let whole = &text[case.byte_range.end..];
        assert!(case.suffix.len() < whole.len());
        match case.task {
            FILE_TAIL => assert_eq!(case.suffix, ""),
            _ => {
                assert!(!whole[..whole.len() - case.suffix.len()].trim().is_empty());
                assert!(case.suffix.starts_with(['\n', '\r']), "{:?}", case.suffix);
            }
        }
    }
}

#[test]
fn different_holes_of_a_file_do_not_overlap() {
    let cases = mine_from(&files(), &options(80, 5));
    for (i, a) in cases.iter().enumerate() {
        for b in cases[..i].iter().filter(|b| b.path == a.path && b.hole != a.hole) {
            let (a, b) = (&a.byte_range, &b.byte_range);
            let apart = a.end <= b.start || b.end <= a.start;
            assert!(apart, "{a:?} and {b:?}");
        }
    }
}

#[test]
fn rag_cases_add_functions_of_other_files_to_full_blocks() {
    let cases = mine_from(&files(), &options(80, 1));
    let full: BTreeSet<&str> = cases
        .iter()
        .filter(|case| case.scenario() == Scenario::FullBlock)
        .map(|case| case.hole.as_str())
        .collect();
    let rag: Vec<&Case> = cases.iter().filter(|case| case.scenario() == Scenario::Rag).collect();
    assert!(rag.iter().any(|case| full.contains(case.hole.as_str())));
    for case in rag {
        assert!((1..=3).contains(&case.context.len()));
        assert!(case.context.iter().all(|item| item.path != case.path && item.strategy == "functions"));
    }
}

#[test]
fn suite_depends_on_the_seed_but_not_on_threads() {
    let files = files();
    let print = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| mine_from(&files, &options(50, seed)).iter().map(to_line).collect::<String>())
    };
    assert_eq!(print(1, 1), print(4, 1));
    assert_ne!(print(1, 1), print(1, 2));
}

#[test]
fn even_mix_balances_block_kinds_and_scenarios() {
    let files: Vec<SourceFile> = (0..20).flat_map(variations).collect();
    let cases = mine_from(&files, &options(200, 1));
    let count = |of: &dyn Fn(&Case) -> String| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        cases.iter().for_each(|case| *counts.entry(of(case)).or_default() += 1);
        counts
    };
    let scenarios = count(&|case| case.scenario().to_string());
    assert_eq!(scenarios.values().collect::<Vec<_>>(), [&40, &40, &80, &40], "{scenarios:?}");
    let kinds = count(&|case| case.block_kind.unwrap().to_string());
    assert_eq!(kinds.len(), BlockKind::ALL.len(), "{kinds:?}");
    let (imports, others): (Vec<_>, Vec<_>) = kinds.iter().partition(|(kind, _)| *kind == "import");
    assert!(imports.iter().all(|(_, cases)| (1..=4).contains(*cases)), "{kinds:?}");
    assert!(others.iter().all(|(_, cases)| (14..=36).contains(*cases)), "{kinds:?}");
    assert_eq!(count(&|case| case.language.clone()).len(), 2);
}

#[test]
fn complete_bodies_are_half_of_inner_block_cases() {
    let files: Vec<SourceFile> = (0..20).flat_map(variations).collect();
    let cases =
        mine_from(&files, &MiningOptions { scenarios: vec![Scenario::InnerBlock], ..options(100, 1) });
    let empty: Vec<&Case> = cases.iter().filter(|case| case.task == Task::EMPTY).collect();
    let kinds: BTreeSet<_> = empty.iter().map(|case| case.block_kind).collect();
    assert_eq!((cases.len(), empty.len()), (100, 50));
    assert!(kinds.len() >= 3, "{kinds:?}");
}

#[test]
fn mid_statement_truth_has_balanced_braces() {
    let text = "cfg_net! {\n    pub fn lookup(host: &str) {\n        resolve(host, 1, 2).await\n    }\n}\n"
        .repeat(9);
    let files = [file("macros.rs", Language::Rust, &text)];
    let cases = mine_from(&files, &MiningOptions { scenarios: vec![Scenario::FullBlock], ..options(40, 1) });
    let begun = cases.iter().filter(|case| case.task.variant() == Some("mid_statement"));
    let count = |text: &str, brace| text.matches(brace).count();
    assert!(begun.clone().count() > 0);
    for case in begun {
        assert_eq!(count(&case.truth, '{'), count(&case.truth, '}'), "{:?}", case.truth);
    }
}

#[test]
fn empty_hole_is_indented_like_the_last_statement() {
    let text = "def f(a):\n    g(a)\n    return h(a,\n             deep=True)\n\n".repeat(9)
        + &"def f(a):\n    g(a)\n    for b in a:\n        h(b)\n\n".repeat(9);
    let files = [file("long.py", Language::Python, &text)];
    let cases = mine_from(&files, &MiningOptions { scenarios: vec![Scenario::InnerBlock], ..options(20, 1) });
    let empty: Vec<&Case> = cases.iter().filter(|case| case.task == Task::EMPTY).collect();
    assert!(!empty.is_empty());
    for case in empty {
        assert!(case.prefix.ends_with("\n    "), "{:?}", case.prefix);
    }
}

#[test]
fn mid_statement_truth_is_more_than_closing_brackets() {
    let texts = ["f(g(a));\nb[1] = { c: [2] };\n", "f(g(a, h(1)));\n"].map(|text| text.repeat(20));
    for text in texts {
        let files = [file("calls.js", Language::JavaScript, &text)];
        let cases =
            mine_from(&files, &MiningOptions { scenarios: vec![Scenario::FullBlock], ..options(40, 1) });
        let begun = cases.iter().filter(|case| case.task.variant() == Some("mid_statement"));
        assert!(begun.clone().count() > 3);
        for case in begun {
            assert!(case.truth.contains(char::is_alphanumeric), "{:?}", case.truth);
        }
    }
}

#[test]
fn grouped_go_declarations_are_cut_line_by_line() {
    let text =
        "package a\n\nvar (\n\tone = f(1)\n\ttwo = f(2)\n)\n\nconst (\n\tthree = g(3)\n\tfour = g(4)\n)\n";
    let files: Vec<_> = (0..20)
        .map(|i| file(&format!("{i}.go"), Language::Go, &text.replace('g', &format!("g{i}"))))
        .collect();
    let cases = mine_from(&files, &MiningOptions { scenarios: vec![Scenario::FullBlock], ..options(60, 1) });
    let begun = cases.iter().filter(|case| case.task.variant() == Some("mid_statement"));
    assert!(begun.clone().any(|case| !case.truth.contains('\n')));
    for case in begun.filter(|case| case.truth.contains('\n')) {
        assert!(case.truth.starts_with('('), "{:?}", case.truth);
    }
}

#[test]
fn real_use_mix_is_mostly_statements() {
    let text: String =
        (0..60).map(|i| format!("def f{i}(a):\n    b{i} = a + {i}\n    return b{i} * a\n\n\n")).collect();
    let files = [file("many.py", Language::Python, &text)];
    let only = vec![Scenario::FullBlock];
    let cases = mine_from(&files, &MiningOptions { mix: Mix::RealUse, scenarios: only, ..options(60, 1) });
    let statements = cases.iter().filter(|case| case.block_kind == Some(BlockKind::Statement)).count();
    assert!((50..=56).contains(&statements), "{statements}");
}

#[test]
fn missing_cases_are_counted() {
    let files = [file("tiny.py", Language::Python, "x = 1\n")];
    let mined = mine(&files, &options(40, 1));
    assert_eq!(mined.missing.values().sum::<usize>() + mined.cases.len(), 40);
}

#[test]
fn mining_broken_code_does_not_panic() {
    let texts = [
        "def f(:\n  if x",
        "fn f() { let s = \"\u{1F600}\"; match {",
        "",
        "\u{feff}def f():\r\n\tpass\r\n",
        "}}}}(((",
    ];
    for language in Language::ALL {
        let files: Vec<_> =
            texts.iter().enumerate().map(|(i, text)| file(&format!("{i}"), language, text)).collect();
        mine_from(&files, &options(10, 1));
    }
}

/// Mines as many cases of `scenario` as possible from these files.
fn mine_scenario(scenario: Scenario, files: &[SourceFile]) -> Vec<Case> {
    mine_from(files, &MiningOptions { scenarios: vec![scenario], ..options(400, 1) })
}

#[test]
fn import_cases_are_limited_by_a_quota() {
    let text = |i: usize| {
        let imports: String = (0..30).map(|j| format!("import module_{i}_{j}\n")).collect();
        format!("{imports}\n\ndef run_{i}(a):\n    b = a.run({i})\n    return b\n")
    };
    let files: Vec<_> = (0..20).map(|i| file(&format!("{i}.py"), Language::Python, &text(i))).collect();
    let count = |mix, cases| {
        let cases = mine_from(
            &files,
            &MiningOptions { mix, scenarios: vec![Scenario::FullBlock], ..options(cases, 1) },
        );
        cases.iter().filter(|case| case.block_kind == Some(BlockKind::Import)).count()
    };
    // A tenth of a seventh, and a tenth of 85 %; even if there are few other holes.
    assert_eq!((count(Mix::Even, 60), count(Mix::Even, 600)), (1, 9));
    assert_eq!(count(Mix::RealUse, 100), 9);
}

#[test]
fn incomplete_suffix_cases_have_at_least_fifty_tokens_before() {
    let cases = mine_scenario(Scenario::IncompleteSuffix, &files());
    assert!(cases.len() > 5);
    for case in &cases {
        let language = Language::from_name(&case.language).unwrap();
        let tokens = syntax::lex(language, &case.prefix);
        let words = tokens.iter().filter(|token| token.kind != syntax::TokenKind::Newline);
        assert!(words.count() >= 50, "{:?}", case.prefix);
    }
}

#[test]
fn copied_files_give_each_prefix_and_suffix_once() {
    let once = files();
    let twice = [
        once.clone(),
        variations(0).collect(),
        variations(0).map(|file| SourceFile { path: format!("copy/{}", file.path).into(), ..file }).collect(),
    ]
    .concat();
    let cases = mine_from(&twice, &options(4_000, 1));
    let mut paths: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for case in &cases {
        paths.entry((&case.prefix, &case.suffix)).or_default().insert(&case.path);
    }
    assert!(paths.values().all(|paths| paths.len() == 1));
    assert!(cases.iter().any(|case| case.path.starts_with("copy/")));
}

#[test]
fn empty_holes_after_a_jump_are_marked() {
    let cases = mine_scenario(Scenario::InnerBlock, &files());
    let empty: Vec<&Case> = cases.iter().filter(|case| case.task == Task::EMPTY).collect();
    let (behind, others): (Vec<&Case>, Vec<&Case>) = empty.iter().partition(|case| case.follows_jump());
    assert!(!behind.is_empty() && !others.is_empty());
    for case in behind {
        let last = case.prefix.trim_end().rsplit('\n').next().unwrap().trim();
        let is_jump = ["return", "raise", "continue"].iter().any(|word| last.starts_with(word));
        assert!(is_jump || case.language == "rust", "{last}");
    }
}

/// Whether `text` has a case that fulfils the predicate.
fn has_case(language: Language, text: &str, is_wanted: &dyn Fn(&Case) -> bool) -> bool {
    let files = [file("one", language, text)];
    let scenarios = [Scenario::FullBlock, Scenario::InnerBlock, Scenario::IncompleteSuffix];
    (1..20).flat_map(|seed| scenarios.map(|scenario| (seed, scenario))).any(|(seed, scenario)| {
        let options = MiningOptions { scenarios: vec![scenario], ..options(30, seed) };
        mine_from(&files, &options).iter().any(is_wanted)
    })
}

#[test]
fn holes_do_not_cross_preprocessor_branches() {
    let text = "int f(int a) {\n    g(a, 1);\n#if A\n    if (a) {\n#else\n    if (b) {\n#endif\n        h(a, 2);\n        i(a, 3);\n    }\n    return a;\n}\n";
    let is_across = |case: &Case| case.truth.contains("#else") != case.truth.contains("#if");
    assert!(!has_case(Language::C, text, &is_across));
    assert!(!has_case(Language::C, text, &|case| case.truth.contains("#if")));
    assert!(!has_case(Language::CSharp, &format!("class A {{\n{text}}}\n"), &is_across));
    let balanced =
        text.replace("if (b) {", "if (b) {}").replace("if (a) {", "if (a) {}").replace("    }\n", "");
    assert!(has_case(Language::C, &balanced, &|case| case.truth.contains("#if") && !is_across(case)));
}

#[test]
fn no_empty_hole_after_a_label() {
    let text = "int f(int a) {\n    g(a, 1);\n    h(a, 2);\nout:\n    return a;\n}\n".repeat(5);
    let is_empty = |case: &Case| case.task == Task::EMPTY;
    assert!(!has_case(Language::C, &text, &is_empty));
    assert!(has_case(Language::C, &text.replace("out:\n", ""), &is_empty));
}

#[test]
fn holes_do_not_split_entities_graphemes_or_crlf() {
    let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}";
    let text = format!("function f() {{\n  return <p>Tom &amp; {family} Jerry &amp; Co</p>;\n}}\n").repeat(9);
    let parts = |case: &Case| {
        let end = case.prefix.len() + case.truth.len();
        let whole = [&*case.prefix, &case.truth, &case.suffix].concat();
        [case.prefix.len(), end].iter().any(|&at| {
            let cuts = |sign: &str| {
                whole.match_indices(sign).any(|(start, _)| start < at && at < start + sign.len())
            };
            cuts("&amp;") || cuts(family) || cuts("\r\n")
        })
    };
    assert!(has_case(Language::Tsx, &text, &|case| case.prefix.ends_with("<p>Tom ")));
    assert!(!has_case(Language::Tsx, &text, &parts));
    assert!(!has_case(Language::Tsx, &text.replace('\n', "\r\n"), &parts));
}

/// Returns the number of holes of these files that a rule rejects.
fn left_out_holes(obstacle: UnanswerableReason, files: &[SourceFile], scenario: Scenario) -> usize {
    let mined = mine(files, &MiningOptions { scenarios: vec![scenario], ..options(40, 1) });
    mined.left_out.get(&obstacle).copied().unwrap_or_default()
}

#[test]
fn left_out_holes_are_counted_by_reason() {
    let one = |language, text: &str| vec![file("one", language, text)];
    let arms = "int f(int a) {\n    g(a, 1);\n#if A\n    if (a) {\n#else\n    if (b) {\n#endif\n        h(a, 2);\n    }\n    return a;\n}\n";
    assert!(left_out_holes(UnanswerableReason::AcrossArms, &one(Language::C, arms), Scenario::FullBlock) > 0);
    let label = "int f(int a) {\n    g(a, 1);\n    h(a, 2);\nout:\n    return a;\n}\n";
    assert_eq!(
        left_out_holes(UnanswerableReason::NotAligned, &one(Language::C, label), Scenario::InnerBlock),
        1
    );
    assert_eq!(
        left_out_holes(UnanswerableReason::NotAligned, &one(Language::C, label), Scenario::FullBlock),
        0,
        "not asked for"
    );
    let short =
        one(Language::Python, "def f(a):\n    b = a + 1\n    return b * a\n\n\ndef g(a):\n    return a\n");
    assert!(left_out_holes(UnanswerableReason::NoBeginning, &short, Scenario::IncompleteSuffix) > 0);
    assert_eq!(left_out_holes(UnanswerableReason::NoBeginning, &short, Scenario::FullBlock), 0);
    assert!(left_out_holes(UnanswerableReason::UnclearEnd, &files(), Scenario::IncompleteSuffix) > 0);
    let deep = "int f(int a) {\n    while (a < 8)\n        a++;\n        g(a);\n    return a;\n}\n";
    assert!(
        left_out_holes(
            UnanswerableReason::NotAligned,
            &one(Language::C, &deep.repeat(9)),
            Scenario::InnerBlock
        ) > 0
    );
    let copied = [one(Language::Python, PYTHON), vec![file("two", Language::Python, PYTHON)]].concat();
    assert!(left_out_holes(UnanswerableReason::AskedElsewhere, &copied, Scenario::FullBlock) > 0);
    let imports: String = (0..30).map(|number| format!("import module_{number}\n")).collect();
    assert_eq!(
        left_out_holes(
            UnanswerableReason::ImportShare,
            &one(Language::Python, &imports),
            Scenario::FullBlock
        ),
        29
    );
    assert!(mine(&files(), &options(20, 1)).left_out.keys().all(|obstacle| !obstacle.name().contains(' ')));
}

/// Engines' answers end at such a character, so no answer could be right.
#[test]
fn truths_with_invisible_characters_are_left_out() {
    // The grammar parses a NUL as an error, so there are no holes.
    for character in ['\u{1b}', '\u{202e}', '\u{2067}', '\u{200b}', '\u{feff}'] {
        let text = PYTHON.replace("items", &format!("items[\"{character}\"]"));
        let mined = mine(&[file("a.py", Language::Python, &text)], &options(60, 1));
        assert!(!mined.cases.iter().any(|case| case.truth.contains(character)), "{character:?}");
        assert!(
            mined.left_out.get(&UnanswerableReason::Invisible).is_some_and(|count| *count > 0),
            "{character:?}"
        );
    }
}
