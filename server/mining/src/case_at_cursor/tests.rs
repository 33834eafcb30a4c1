//! Cases at cursors in every language.

use cases::{Case, FileText, Origin, OriginKind, Task};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use syntax::{Language, SourceFile};
use text::{Document, PositionEncoding};

use super::{NoCaseReason, case_at_cursor};
use crate::parsed_file::CutShape;

/// The fixtures of all tests.
const FIXTURES: [(Language, &str); 10] = [
    (Language::Python, PYTHON),
    (Language::Rust, RUST),
    (Language::TypeScript, TYPESCRIPT),
    (Language::Tsx, TSX),
    (Language::JavaScript, JAVASCRIPT),
    (Language::Java, JAVA),
    (Language::CSharp, C_SHARP),
    (Language::Go, GO),
    (Language::C, C),
    (Language::Cpp, CPP),
];

/// A parsed file.
struct Fixture {
    file: SourceFile,
    tree: syntax::Tree,
}

impl Fixture {
    fn new(language: Language, text: &str) -> Fixture {
        let file = SourceFile { path: "fixture".into(), language, text: text.into() };
        Fixture { tree: syntax::parse(language, text), file }
    }

    fn case_at(&self, offset: usize) -> Result<Case, NoCaseReason> {
        case_at_cursor(&self.file, &self.tree, offset, &Origin::new(OriginKind::Live, "t"))
    }
}

/// Shows the case at each `$0` on a line: its scenario, variant and kind, the text before the truth on its line, the truth,
/// and the text after it on its last line.
#[track_caller]
fn check(language: Language, fixture: &str, expected: &Expect) {
    let parts: Vec<&str> = fixture.split("$0").collect();
    let fixture = Fixture::new(language, &parts.concat());
    let mut offset = 0;
    let mut lines = String::new();
    for part in &parts[..parts.len() - 1] {
        offset += part.len();
        lines += &match fixture.case_at(offset) {
            Ok(case) => show(&case),
            Err(reason) => format!("{reason:?}\n"),
        };
    }
    expected.assert_eq(&lines);
}

fn show(case: &Case) -> String {
    let before = case.prefix.rsplit('\n').next().unwrap().trim_start();
    let truth = case.truth.split('\n').map(str::trim).collect::<Vec<_>>().join("⏎");
    let after = case.suffix.lines().next().unwrap_or_default();
    let cut = case.tags.get("cut").map_or(String::new(), |cut| format!(" ({cut})"));
    let (variant, kind) = (case.task.variant().unwrap(), case.block_kind.unwrap());
    format!("{}/{variant}{cut} {kind}: {before}⟦{truth}⟧{after}\n", case.scenario())
}

const PYTHON: &str = r#"import os
$0
class Store:
    $0def load(self, $0path):$0
        """Reads$0."""
$0        $0if not pa$0th:
    $0        self.items = {}
            return None$0
        for line in open(path):  # ea$0ch line$0
            key, value = line.split("=$0", 1)$0
            $0self.items[key] = value
            $0
        $0
        return self.items$0

$0    @cached
    $0def save(self):
        with open("a") as out:$0
            out.write(1)$0
            out.write(2)
        if self.dirty:
            self.flush()
        $0else:$0
            self.skip()
            $0
            self.log()
        try:
            os.sync()
        except OSError as $0error:
            raise Broken(error)
        $0total = self.si$0ze
        return total
"#;

#[test]
fn python() {
    check(
        Language::Python,
        PYTHON,
        &expect![[r#"
            NoBlock
            full_block/block_start function: ⟦def load(self, path):⏎"""Reads."""⏎if not path:⏎self.items = {}⏎return None⏎for line in open(path):  # each line⏎key, value = line.split("=", 1)⏎self.items[key] = value⏎⏎⏎return self.items⟧
            full_block/mid_statement function: def load(self, ⟦path):⟧
            incomplete_suffix/function_tail (header_end) function: def load(self, path):⟦⏎"""Reads."""⏎if not path:⏎self.items = {}⏎return None⏎for line in open(path):  # each line⏎key, value = line.split("=", 1)⏎self.items[key] = value⏎⏎⏎return self.items⟧
            InText
            incomplete_suffix/function_tail (header_end) function: ⟦if not path:⏎self.items = {}⏎return None⏎for line in open(path):  # each line⏎key, value = line.split("=", 1)⏎self.items[key] = value⏎⏎⏎return self.items⟧
            full_block/block_start if: ⟦if not path:⏎self.items = {}⏎return None⟧
            full_block/mid_statement if: if not pa⟦th:⟧
            full_block/header_end if: ⟦self.items = {}⏎return None⟧
            inner_block/empty if: return None⟦⟧
            InText
            InText
            full_block/mid_statement statement: key, value = line.split("=⟦", 1)⟧
            inner_block/rest_of_block for: key, value = line.split("=", 1)⟦⏎self.items[key] = value⟧
            full_block/block_start statement: ⟦self.items[key] = value⟧
            inner_block/empty for: ⟦⟧
            incomplete_suffix/function_tail (rest_of_block) function: ⟦⏎return self.items⟧
            inner_block/empty function: return self.items⟦⟧
            incomplete_suffix/file_tail (block_start) function: ⟦@cached⏎def save(self):⏎with open("a") as out:⏎out.write(1)⏎out.write(2)⏎if self.dirty:⏎self.flush()⏎else:⏎self.skip()⏎⏎self.log()⏎try:⏎os.sync()⏎except OSError as error:⏎raise Broken(error)⏎total = self.size⏎return total⟧
            incomplete_suffix/file_tail (block_start) function: ⟦def save(self):⏎with open("a") as out:⏎out.write(1)⏎out.write(2)⏎if self.dirty:⏎self.flush()⏎else:⏎self.skip()⏎⏎self.log()⏎try:⏎os.sync()⏎except OSError as error:⏎raise Broken(error)⏎total = self.size⏎return total⟧
            full_block/header_end function: with open("a") as out:⟦⏎out.write(1)⏎out.write(2)⟧
            inner_block/rest_of_block function: out.write(1)⟦⏎out.write(2)⟧
            full_block/mid_statement if: ⟦else:⏎self.skip()⏎⏎self.log()⟧
            full_block/header_end if: else:⟦⏎self.skip()⏎⏎self.log()⟧
            inner_block/rest_of_block if: ⟦⏎self.log()⟧
            full_block/mid_statement catch: except OSError as ⟦error:⟧
            full_block/block_start statement: ⟦total = self.size⟧
            full_block/mid_statement statement: total = self.si⟦ze⟧
        "#]],
    );
}

const RUST: &str = r#"impl Store {
    /// Lo$0ads.
    $0#[must_use]
    pub $0fn load(&mut self, path: &Path) -> Option<u32> {$0
        let Some(text) = read(path) else {$0 return None };
        $0match text.len() {
            0 => return $0None,
            _ => self.size $0+= 1,$0
        }
        while self.size > 9 {
            self.size -= 1;$0
            unsafe {
                self.shrink();$0
                self.grow();
            }
        }$0
        text.lines().for_each(|line| {
            parse(line);
            $0
            self.size += 1;
        });
        self.len()$0
    }
}
"#;

#[test]
fn rust() {
    check(
        Language::Rust,
        RUST,
        &expect![[r#"
            InText
            full_block/block_start function: ⟦#[must_use]⏎pub fn load(&mut self, path: &Path) -> Option<u32> {⏎let Some(text) = read(path) else { return None };⏎match text.len() {⏎0 => return None,⏎_ => self.size += 1,⏎}⏎while self.size > 9 {⏎self.size -= 1;⏎unsafe {⏎self.shrink();⏎self.grow();⏎}⏎}⏎text.lines().for_each(|line| {⏎parse(line);⏎⏎self.size += 1;⏎});⏎self.len()⏎}⟧
            full_block/mid_statement function: pub ⟦fn load(&mut self, path: &Path) -> Option<u32> {⟧
            incomplete_suffix/function_tail (header_end) function: pub fn load(&mut self, path: &Path) -> Option<u32> {⟦⏎let Some(text) = read(path) else { return None };⏎match text.len() {⏎0 => return None,⏎_ => self.size += 1,⏎}⏎while self.size > 9 {⏎self.size -= 1;⏎unsafe {⏎self.shrink();⏎self.grow();⏎}⏎}⏎text.lines().for_each(|line| {⏎parse(line);⏎⏎self.size += 1;⏎});⏎self.len()⟧
            full_block/header_end statement: let Some(text) = read(path) else {⟦return None⟧ };
            full_block/block_start if: ⟦match text.len() {⏎0 => return None,⏎_ => self.size += 1,⏎}⟧
            full_block/mid_statement statement: 0 => return ⟦None⟧,
            full_block/mid_statement statement: _ => self.size ⟦+= 1⟧,
            inner_block/empty if: _ => self.size += 1,⟦⟧
            inner_block/rest_of_block while: self.size -= 1;⟦⏎unsafe {⏎self.shrink();⏎self.grow();⏎}⟧
            inner_block/rest_of_block while: self.shrink();⟦⏎self.grow();⟧
            incomplete_suffix/function_tail (rest_of_block) function: }⟦⏎text.lines().for_each(|line| {⏎parse(line);⏎⏎self.size += 1;⏎});⏎self.len()⟧
            inner_block/rest_of_block statement: ⟦⏎self.size += 1;⟧
            inner_block/empty function: self.len()⟦⟧
        "#]],
    );
}

const TYPESCRIPT: &str = r#"interface Store {
  $0size: num$0ber;
}
export const load = async ($0path: string) => {$0
  if (cache.has(path)) $0return cache.get(path);$0
  for (const line of await read(path)) {
    const [key, value] = line.$0split("=");
    $0
  }
  try {
    await check();
  }$0 catch (error) {
    throw new Broken(error);
  } $0finally {
    close();$0
  }
};

describe("load", () => {$0
  it("reads", async () => {
    expect(await load("a")).toBe(1);
$0
    expect(await load({ a: 1, $0 b: 2 })).toBe(2);
  });
});
"#;

#[test]
fn typescript() {
    check(
        Language::TypeScript,
        TYPESCRIPT,
        &expect![[r#"
            NoBlock
            NoBlock
            full_block/mid_statement function: export const load = async (⟦path: string) => {⟧
            incomplete_suffix/function_tail (header_end) function: export const load = async (path: string) => {⟦⏎if (cache.has(path)) return cache.get(path);⏎for (const line of await read(path)) {⏎const [key, value] = line.split("=");⏎⏎}⏎try {⏎await check();⏎} catch (error) {⏎throw new Broken(error);⏎} finally {⏎close();⏎}⟧
            full_block/block_start statement: if (cache.has(path)) ⟦return cache.get(path);⟧
            incomplete_suffix/function_tail (rest_of_block) function: if (cache.has(path)) return cache.get(path);⟦⏎for (const line of await read(path)) {⏎const [key, value] = line.split("=");⏎⏎}⏎try {⏎await check();⏎} catch (error) {⏎throw new Broken(error);⏎} finally {⏎close();⏎}⟧
            full_block/mid_statement statement: const [key, value] = line.⟦split("=");⟧
            inner_block/empty for: ⟦⟧
            full_block/block_start catch: }⟦catch (error) {⏎throw new Broken(error);⏎}⟧ finally {
            incomplete_suffix/function_tail (block_start) try: } ⟦finally {⏎close();⏎}⟧
            inner_block/empty try: close();⟦⟧
            full_block/header_end statement: describe("load", () => {⟦⏎it("reads", async () => {⏎expect(await load("a")).toBe(1);⏎⏎expect(await load({ a: 1,  b: 2 })).toBe(2);⏎});⟧
            inner_block/rest_of_block statement: ⟦⏎expect(await load({ a: 1,  b: 2 })).toBe(2);⟧
            full_block/mid_statement statement: expect(await load({ a: 1, ⟦b: 2 })).toBe(2);⟧
        "#]],
    );
}

const TSX: &str = r#"export function List({ items$0 }: Props) {
  const [open, setOpen] = $0useState(false);
  return (
    <ul onClick={() => {
      setOpen(true);$0
      log();
    }}>
      {items.map((item) => <li>don't $0{item}</li>)}
    </ul>
  );
}
"#;

#[test]
fn tsx() {
    check(
        Language::Tsx,
        TSX,
        &expect![[r#"
            full_block/mid_statement function: export function List({ items⟦}: Props) {⟧
            full_block/mid_statement statement: const [open, setOpen] = ⟦useState(false);⟧
            inner_block/rest_of_block statement: setOpen(true);⟦⏎log();⟧
            incomplete_suffix/function_tail (mid_statement) statement: {items.map((item) => <li>don't ⟦{item}</li>)}⏎</ul>⏎);⟧
        "#]],
    );
}

const JAVASCRIPT: &str = r#""use $0strict";
module.exports = {
  load(path) {
    if (!path) {
      return null;
    } else if (path$0.length) {
      warn(path);
    } else {
      $0fail(path);$0
      close();
    }
    return `${path}$0.js`;
  },
  $0save() {$0},
};
"#;

#[test]
fn javascript() {
    check(
        Language::JavaScript,
        JAVASCRIPT,
        &expect![[r#"
            InText
            full_block/mid_statement if: } else if (path⟦.length) {⟧
            full_block/block_start statement: ⟦fail(path);⟧
            inner_block/rest_of_block if: fail(path);⟦⏎close();⟧
            incomplete_suffix/function_tail (mid_statement) statement: return `${path}⟦.js`;⟧
            full_block/block_start function: ⟦save() {}⟧,
            inner_block/empty function: save() {⟦⟧},
        "#]],
    );
}

const JAVA: &str = r#"class Store {
    private int $0size;

    @Override
    $0public int load(Path path) throws $0IOException {
        switch (path.length()) {
            case $00:
                open();
                $0
                return 0;
            default:$0
                break;
        }
        do {
            total += 1;
        } while ($0total < 3);
        for (String line : read(path)) {
            items.put(line, $0parse(line));
            total += 1;$0
        }
    }
}
"#;

#[test]
fn java() {
    check(
        Language::Java,
        JAVA,
        &expect![[r#"
            NoBlock
            full_block/block_start function: ⟦public int load(Path path) throws IOException {⏎switch (path.length()) {⏎case 0:⏎open();⏎⏎return 0;⏎default:⏎break;⏎}⏎do {⏎total += 1;⏎} while (total < 3);⏎for (String line : read(path)) {⏎items.put(line, parse(line));⏎total += 1;⏎}⏎}⟧
            full_block/mid_statement function: public int load(Path path) throws ⟦IOException {⟧
            full_block/mid_statement statement: case ⟦0:⏎open();⏎⏎return 0;⟧
            inner_block/rest_of_block if: ⟦⏎return 0;⟧
            full_block/header_end if: default:⟦⏎break;⟧
            full_block/mid_statement while: } while (⟦total < 3);⟧
            full_block/mid_statement statement: items.put(line, ⟦parse(line));⟧
            inner_block/empty for: total += 1;⟦⟧
        "#]],
    );
}

const C_SHARP: &str = r#"class Store
{
    [Pure]
    $0public int Load(string path)
    {$0
        foreach (var line in Read(path))
        $0{
            items.Add(Par$0se(line));
        }
        using (var file = Open(path))
        {
            $0file.Read();$0
            file.Close();
        }
        return total;
        $0
    }
}
"#;

#[test]
fn c_sharp() {
    check(
        Language::CSharp,
        C_SHARP,
        &expect![[r#"
            full_block/block_start function: ⟦public int Load(string path)⏎{⏎foreach (var line in Read(path))⏎{⏎items.Add(Parse(line));⏎}⏎using (var file = Open(path))⏎{⏎file.Read();⏎file.Close();⏎}⏎return total;⏎⏎}⟧
            incomplete_suffix/function_tail (header_end) function: {⟦⏎foreach (var line in Read(path))⏎{⏎items.Add(Parse(line));⏎}⏎using (var file = Open(path))⏎{⏎file.Read();⏎file.Close();⏎}⏎return total;⟧
            full_block/header_end for: ⟦{⏎items.Add(Parse(line));⟧
            full_block/mid_statement statement: items.Add(Par⟦se(line));⟧
            full_block/block_start statement: ⟦file.Read();⟧
            inner_block/rest_of_block function: file.Read();⟦⏎file.Close();⟧
            inner_block/empty function: ⟦⟧
        "#]],
    );
}

const GO: &str = r#"package store

import $0"os"

func (s *Store) Load(path string) error {
	lines, err := $0read(path)
	$0if err != nil {
		return err$0
	}
	go func() {
		s.start()$0
		s.wait()
	}()
	switch {
	case err == nil:
		s.size++$0
		s.log()
	}

	return nil
}
"#;

#[test]
fn go() {
    check(
        Language::Go,
        GO,
        &expect![[r#"
            full_block/mid_statement import: import ⟦"os"⟧
            full_block/mid_statement statement: lines, err := ⟦read(path)⟧
            full_block/block_start if: ⟦if err != nil {⏎return err⏎}⟧
            inner_block/empty if: return err⟦⟧
            inner_block/rest_of_block statement: s.start()⟦⏎s.wait()⟧
            inner_block/rest_of_block if: s.size++⟦⏎s.log()⟧
        "#]],
    );
}

const C: &str = r#"#include $0<stdio.h>

static int load(const char *path) {
    if (!path)
        $0return -1;$0
    while (*path) {
        count(*path$0++);
        total++;
    }$0
    return total; /* the$0 sum */$0
}
$0"#;

#[test]
fn c() {
    check(
        Language::C,
        C,
        &expect![[r#"
            NoBlock
            full_block/block_start statement: ⟦return -1;⟧
            inner_block/rest_of_block function: return -1;⟦⏎while (*path) {⏎count(*path++);⏎total++;⏎}⏎return total;⟧ /* the sum */
            full_block/mid_statement statement: count(*path⟦++);⟧
            inner_block/rest_of_block function: }⟦⏎return total;⟧ /* the sum */
            InText
            inner_block/empty function: return total; /* the sum */⟦⟧
            NoBlock
        "#]],
    );
}

const CPP: &str = r#"namespace store {
template <typename T>
int Store<T>::load(const std::string& path) $0{
    std::sort(all.begin(), all.end(), [](auto a, auto b) {$0
        return a < b;
    });
    $0for (auto& item : all) {
        if (item.empty()) {
            $0continue;
        }
    }
}
}  // namespace store
"#;

#[test]
fn cpp() {
    check(
        Language::Cpp,
        CPP,
        &expect![[r#"
            full_block/header_end function: int Store<T>::load(const std::string& path) ⟦{⏎std::sort(all.begin(), all.end(), [](auto a, auto b) {⏎return a < b;⏎});⏎for (auto& item : all) {⏎if (item.empty()) {⏎continue;⏎}⏎}⟧
            full_block/header_end statement: std::sort(all.begin(), all.end(), [](auto a, auto b) {⟦⏎return a < b;⟧
            incomplete_suffix/function_tail (block_start) for: ⟦for (auto& item : all) {⏎if (item.empty()) {⏎continue;⏎}⏎}⟧
            incomplete_suffix/function_tail (block_start) statement: ⟦continue;⟧
        "#]],
    );
}

/// Asserts the invariants of every case and every rejection.
#[track_caller]
fn check_offset(fixture: &Fixture, offset: usize) {
    let text = &*fixture.file.text;
    let position = Document::new(text).position(offset, PositionEncoding::Utf16);
    let case = match fixture.case_at(offset) {
        Ok(case) => case,
        Err(NoCaseReason::NoSuchPlace) => return assert_eq!(position, None, "{offset} in {text:?}"),
        Err(_) => return assert_ne!(position, None, "{offset} in {text:?}"),
    };
    let place = position.unwrap();
    assert_eq!([&*case.prefix, &case.truth, &case.suffix].concat(), text);
    assert_eq!(case.byte_range, offset..offset + case.truth.len());
    assert_eq!((case.prefix.len(), case.line, case.character), (offset, place.line, place.character));
    assert_eq!(case.id, case.compute_id());
    assert_eq!(case.truth.is_empty(), case.task == Task::EMPTY);
    assert_eq!(case.truth.trim_end(), case.truth);
    assert!(case.truth.trim().lines().count() <= 60);
    let located = case.truth_locator().locate_in(&FileText::new(text));
    assert_eq!(located, Some(case.byte_range.clone()));
    if case.task.variant() == Some("file_tail") {
        assert_eq!(case.suffix.trim(), "");
    }
}

#[test]
fn every_offset_gives_a_valid_case_or_a_reason() {
    for (language, fixture) in FIXTURES {
        let unix = fixture.replace("$0", "").replace("path", "größe").replace("\"a\"", "\"\u{1F600}\"");
        for text in [unix.replace('\n', "\r\n"), unix] {
            let fixture = Fixture::new(language, &text);
            (0..=text.len() + 2).for_each(|offset| check_offset(&fixture, offset));
        }
    }
}

proptest! {
    #[test]
    fn broken_text_gives_a_valid_case_or_a_reason(
        (language, fixture) in prop::sample::select(&FIXTURES[..]),
        cut in any::<(prop::sample::Index, prop::sample::Index)>(),
        inserted in "[(){};:\"'\r\n \u{1F600}a]{0,6}",
        offsets in prop::collection::vec(any::<prop::sample::Index>(), 20),
    ) {
        let whole = fixture.replace("$0", "");
        let (a, b) = (cut.0.index(whole.len()), cut.1.index(whole.len()));
        let text = [&whole[..a.min(b)], &inserted, &whole[a.max(b)..]].concat();
        let fixture = Fixture::new(language, &text);
        for offset in offsets {
            check_offset(&fixture, offset.index(text.len() + 1));
        }
    }
}

#[test]
fn cursor_in_a_statement_has_the_mined_truth() {
    for (language, fixture) in FIXTURES {
        let text = fixture.replace("$0", "");
        let fixture = Fixture::new(language, &text);
        let tree = syntax::parse(fixture.file.language, &fixture.file.text);
        let holes = (1..20).flat_map(|seed| crate::holes::holes(&fixture.file, &tree, seed));
        for hole in holes.filter(|hole| hole.shape == CutShape::MidStatement) {
            assert_eq!(fixture.case_at(hole.range.start).unwrap().truth, text[hole.range]);
        }
    }
}

#[test]
fn long_block_is_rejected_but_its_parts_are_not() {
    let lines = "    step(value)\n".repeat(61);
    let text = format!("def long(value):\n{lines}");
    let fixture = Fixture::new(Language::Python, &text);
    let at = |needle: &str| fixture.case_at(text.find(needle).unwrap());
    assert_eq!(at("def"), Err(NoCaseReason::TooLong(62)));
    assert_eq!(at("\n"), Err(NoCaseReason::TooLong(61)));
    assert_eq!(at("value):").unwrap().truth, "value):");
    assert_eq!(at("tep").unwrap().truth, "tep(value)");
}

#[test]
fn cursor_in_broken_syntax_has_no_case() {
    check(
        Language::Python,
        "def load(path):\n    items = (1 $0+\n    $0return items\n$0\n\ndef save():\n    $0pass\n",
        &expect![[r#"
            Broken
            incomplete_suffix/function_tail (block_start) statement: ⟦return items⟧
            NoBlock
            incomplete_suffix/file_tail (block_start) statement: ⟦pass⟧
        "#]],
    );
}

#[test]
fn empty_file_has_no_block() {
    for language in Language::ALL {
        for text in ["", "\n", "  ", "\r\n"] {
            assert_eq!(Fixture::new(language, text).case_at(0), Err(NoCaseReason::NoBlock), "{text:?}");
        }
    }
}

#[test]
fn no_case_reasons_include_a_remedy() {
    let refusals = [
        NoCaseReason::NoSuchPlace,
        NoCaseReason::InText,
        NoCaseReason::NoBlock,
        NoCaseReason::Broken,
        NoCaseReason::TooLong(61),
    ];
    for refusal in refusals {
        let (reason, remedy) = refusal.to_string().split_once("; ").map(|(a, b)| (a.len(), b.len())).unwrap();
        assert!(reason > 0 && remedy > 0);
    }
}
