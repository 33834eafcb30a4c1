//! Snapshots of all holes of a small file for each family of languages.

use expect_test::{Expect, expect};
use syntax::{Language, SourceFile};

use super::holes;

/// Shows each hole on a line: its cut, its kind, the text before it on its line, its text, and the text after it on its last
/// line.
#[track_caller]
fn check(language: Language, text: &str, expected: &Expect) {
    let file = SourceFile { path: "fixture".into(), language, text: text.into() };
    let show = |text: &str| text.split('\n').map(str::trim).collect::<Vec<_>>().join("⏎");
    let lines = holes(&file, &syntax::parse(language, text), 1).into_iter().map(|hole| {
        let line_start = text[..hole.range.start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[hole.range.end..].find('\n').map_or(text.len(), |at| hole.range.end + at);
        let before = text[line_start..hole.range.start].trim_start();
        let (truth, after) = (show(&text[hole.range.clone()]), &text[hole.range.end..line_end]);
        format!("{:?} {}: {before}⟦{truth}⟧{after}\n", hole.shape, hole.kind)
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn python() {
    check(
        Language::Python,
        r#"class Store:
    def load(self, path):
        if not path:
            return None
        for line in open(path):  # each line
            key, value = line.split("=")
            self.items[key] = value
        try:
            self.check()
        except OSError as error:
            raise Broken(error)
"#,
        &expect![[r#"
            BlockStart function: ⟦def load(self, path):⏎if not path:⏎return None⏎for line in open(path):  # each line⏎key, value = line.split("=")⏎self.items[key] = value⏎try:⏎self.check()⏎except OSError as error:⏎raise Broken(error)⟧
            BlockStart if: ⟦if not path:⏎return None⟧
            HeaderEnd function: ⟦if not path:⏎return None⏎for line in open(path):  # each line⏎key, value = line.split("=")⏎self.items[key] = value⏎try:⏎self.check()⏎except OSError as error:⏎raise Broken(error)⟧
            HeaderEnd if: ⟦return None⟧
            BlockStart statement: ⟦return None⟧
            BlockStart for: ⟦for line in open(path):  # each line⏎key, value = line.split("=")⏎self.items[key] = value⟧
            BlockStart statement: ⟦key, value = line.split("=")⟧
            HeaderEnd for: ⟦key, value = line.split("=")⏎self.items[key] = value⟧
            MidStatement statement: key, value = line.split⟦("=")⟧
            RestOfBlock for: ⟦self.items[key] = value⟧
            BlockStart statement: ⟦self.items[key] = value⟧
            MidStatement statement: self.items⟦[key] = value⟧
            Empty for: self.items[key] = value⟦⟧
            RestOfBlock function: ⟦try:⏎self.check()⏎except OSError as error:⏎raise Broken(error)⟧
            BlockStart try: ⟦try:⏎self.check()⏎except OSError as error:⏎raise Broken(error)⟧
            HeaderEnd try: ⟦self.check()⟧
            BlockStart statement: ⟦self.check()⟧
            MidStatement statement: self⟦.check()⟧
            BlockStart catch: ⟦except OSError as error:⏎raise Broken(error)⟧
            HeaderEnd catch: ⟦raise Broken(error)⟧
            BlockStart statement: ⟦raise Broken(error)⟧
            MidStatement statement: raise Broken(⟦error)⟧
            Empty function: raise Broken(error)⟦⟧
        "#]],
    );
}

#[test]
fn rust() {
    check(
        Language::Rust,
        r#"impl Store {
    fn load(&mut self, path: &Path) -> Option<u32> {
        let Some(text) = read(path) else { return None };
        match text.len() {
            0 => return None,
            _ => self.size += 1,
        }
        while self.size > 9 {
            self.size -= 1;
            self.shrink();
        }
        text.lines().map(|line| parse(line)).max()
    }
}
"#,
        &expect![[r#"
            BlockStart function: ⟦fn load(&mut self, path: &Path) -> Option<u32> {⏎let Some(text) = read(path) else { return None };⏎match text.len() {⏎0 => return None,⏎_ => self.size += 1,⏎}⏎while self.size > 9 {⏎self.size -= 1;⏎self.shrink();⏎}⏎text.lines().map(|line| parse(line)).max()⏎}⟧
            BlockStart statement: ⟦let Some(text) = read(path) else { return None };⟧
            HeaderEnd function: ⟦let Some(text) = read(path) else { return None };⏎match text.len() {⏎0 => return None,⏎_ => self.size += 1,⏎}⏎while self.size > 9 {⏎self.size -= 1;⏎self.shrink();⏎}⏎text.lines().map(|line| parse(line)).max()⟧
            MidStatement statement: let Some(text⟦) = read(path) else { return None };⟧
            BlockStart if: ⟦match text.len() {⏎0 => return None,⏎_ => self.size += 1,⏎}⟧
            RestOfBlock function: ⟦match text.len() {⏎0 => return None,⏎_ => self.size += 1,⏎}⏎while self.size > 9 {⏎self.size -= 1;⏎self.shrink();⏎}⏎text.lines().map(|line| parse(line)).max()⟧
            HeaderEnd if: ⟦0 => return None,⏎_ => self.size += 1,⟧
            RestOfBlock if: ⟦_ => self.size += 1,⟧
            Empty if: _ => self.size += 1,⟦⟧
            BlockStart while: ⟦while self.size > 9 {⏎self.size -= 1;⏎self.shrink();⏎}⟧
            BlockStart statement: ⟦self.size -= 1;⟧
            HeaderEnd while: ⟦self.size -= 1;⏎self.shrink();⟧
            MidStatement statement: self.size -= ⟦1;⟧
            RestOfBlock while: ⟦self.shrink();⟧
            BlockStart statement: ⟦self.shrink();⟧
            MidStatement statement: self⟦.shrink();⟧
            Empty while: self.shrink();⟦⟧
            BlockStart statement: ⟦text.lines().map(|line| parse(line)).max()⟧
            MidStatement statement: text.lines().⟦map(|line| parse(line)).max()⟧
            Empty function: text.lines().map(|line| parse(line)).max()⟦⟧
        "#]],
    );
}

#[test]
fn typescript() {
    check(
        Language::TypeScript,
        r#"export const load = async (path: string) => {
  if (cache.has(path)) return cache.get(path);
  for (const line of await read(path)) {
    const [key, value] = line.split("=");
    cache.set(key, value);
  }
  try {
    await check();
  } catch (error) {
    throw new Broken(error);
  } finally {
    close();
  }
};
"#,
        &expect![[r#"
            BlockStart function: ⟦export const load = async (path: string) => {⏎if (cache.has(path)) return cache.get(path);⏎for (const line of await read(path)) {⏎const [key, value] = line.split("=");⏎cache.set(key, value);⏎}⏎try {⏎await check();⏎} catch (error) {⏎throw new Broken(error);⏎} finally {⏎close();⏎}⏎};⟧
            BlockStart if: ⟦if (cache.has(path)) return cache.get(path);⟧
            HeaderEnd function: ⟦if (cache.has(path)) return cache.get(path);⏎for (const line of await read(path)) {⏎const [key, value] = line.split("=");⏎cache.set(key, value);⏎}⏎try {⏎await check();⏎} catch (error) {⏎throw new Broken(error);⏎} finally {⏎close();⏎}⟧
            MidStatement statement: if (cache.has(path)) return cache⟦.get(path);⟧
            BlockStart for: ⟦for (const line of await read(path)) {⏎const [key, value] = line.split("=");⏎cache.set(key, value);⏎}⟧
            BlockStart statement: ⟦const [key, value] = line.split("=");⟧
            HeaderEnd for: ⟦const [key, value] = line.split("=");⏎cache.set(key, value);⟧
            MidStatement statement: const [key, value⟦] = line.split("=");⟧
            RestOfBlock for: ⟦cache.set(key, value);⟧
            BlockStart statement: ⟦cache.set(key, value);⟧
            MidStatement statement: cache.s⟦et(key, value);⟧
            Empty for: cache.set(key, value);⟦⟧
            RestOfBlock function: ⟦try {⏎await check();⏎} catch (error) {⏎throw new Broken(error);⏎} finally {⏎close();⏎}⟧
            BlockStart try: ⟦try {⏎await check();⏎} catch (error) {⏎throw new Broken(error);⏎} finally {⏎close();⏎}⟧
            HeaderEnd try: ⟦await check();⟧
            BlockStart statement: ⟦await check();⟧
            MidStatement statement: await ⟦check();⟧
            BlockStart catch: } ⟦catch (error) {⏎throw new Broken(error);⏎}⟧ finally {
            HeaderEnd catch: ⟦throw new Broken(error);⟧
            BlockStart statement: ⟦throw new Broken(error);⟧
            MidStatement statement: throw new ⟦Broken(error);⟧
            HeaderEnd try: ⟦close();⟧
            BlockStart statement: ⟦close();⟧
            MidStatement statement: close⟦();⟧
            Empty function: }⟦⟧
        "#]],
    );
}

#[test]
fn java() {
    check(
        Language::Java,
        r#"class Store {
    int load(Path path) throws IOException {
        switch (path.length()) {
            case 0:
                return 0;
            default:
                break;
        }
        for (String line : read(path)) {
            items.put(line, parse(line));
            total += 1;
        }
        return total;
    }
}
"#,
        &expect![[r#"
            BlockStart function: ⟦int load(Path path) throws IOException {⏎switch (path.length()) {⏎case 0:⏎return 0;⏎default:⏎break;⏎}⏎for (String line : read(path)) {⏎items.put(line, parse(line));⏎total += 1;⏎}⏎return total;⏎}⟧
            BlockStart if: ⟦switch (path.length()) {⏎case 0:⏎return 0;⏎default:⏎break;⏎}⟧
            HeaderEnd function: ⟦switch (path.length()) {⏎case 0:⏎return 0;⏎default:⏎break;⏎}⏎for (String line : read(path)) {⏎items.put(line, parse(line));⏎total += 1;⏎}⏎return total;⟧
            HeaderEnd if: ⟦case 0:⏎return 0;⏎default:⏎break;⟧
            BlockStart statement: ⟦return 0;⟧
            MidStatement statement: return ⟦0;⟧
            RestOfBlock if: ⟦default:⏎break;⟧
            BlockStart statement: ⟦break;⟧
            Empty if: break;⟦⟧
            BlockStart for: ⟦for (String line : read(path)) {⏎items.put(line, parse(line));⏎total += 1;⏎}⟧
            BlockStart statement: ⟦items.put(line, parse(line));⟧
            HeaderEnd for: ⟦items.put(line, parse(line));⏎total += 1;⟧
            MidStatement statement: items.put(line, parse(li⟦ne));⟧
            RestOfBlock for: ⟦total += 1;⟧
            BlockStart statement: ⟦total += 1;⟧
            MidStatement statement: total ⟦+= 1;⟧
            Empty for: total += 1;⟦⟧
            RestOfBlock function: ⟦return total;⟧
            BlockStart statement: ⟦return total;⟧
            MidStatement statement: return ⟦total;⟧
            Empty function: return total;⟦⟧
        "#]],
    );
}

#[test]
fn go() {
    check(
        Language::Go,
        r#"package store

func (s *Store) Load(path string) error {
	lines, err := read(path)
	if err != nil {
		return err
	}
	for _, line := range lines {
		s.items = append(s.items, line)
		s.size++
	}
	return nil
}
"#,
        &expect![[r#"
            BlockStart function: ⟦func (s *Store) Load(path string) error {⏎lines, err := read(path)⏎if err != nil {⏎return err⏎}⏎for _, line := range lines {⏎s.items = append(s.items, line)⏎s.size++⏎}⏎return nil⏎}⟧
            BlockStart statement: ⟦lines, err := read(path)⟧
            HeaderEnd function: ⟦lines, err := read(path)⏎if err != nil {⏎return err⏎}⏎for _, line := range lines {⏎s.items = append(s.items, line)⏎s.size++⏎}⏎return nil⟧
            MidStatement statement: lines, err := ⟦read(path)⟧
            BlockStart if: ⟦if err != nil {⏎return err⏎}⟧
            RestOfBlock function: ⟦if err != nil {⏎return err⏎}⏎for _, line := range lines {⏎s.items = append(s.items, line)⏎s.size++⏎}⏎return nil⟧
            HeaderEnd if: ⟦return err⟧
            BlockStart statement: ⟦return err⟧
            BlockStart for: ⟦for _, line := range lines {⏎s.items = append(s.items, line)⏎s.size++⏎}⟧
            BlockStart statement: ⟦s.items = append(s.items, line)⟧
            HeaderEnd for: ⟦s.items = append(s.items, line)⏎s.size++⟧
            MidStatement statement: s.items ⟦= append(s.items, line)⟧
            RestOfBlock for: ⟦s.size++⟧
            BlockStart statement: ⟦s.size++⟧
            MidStatement statement: s⟦.size++⟧
            Empty for: s.size++⟦⟧
            BlockStart statement: ⟦return nil⟧
            Empty function: return nil⟦⟧
        "#]],
    );
}

#[test]
fn c_sharp() {
    check(
        Language::CSharp,
        r#"class Store
{
    public int Load(string path)
    {
        foreach (var line in Read(path))
        {
            items.Add(Parse(line));
            total++;
        }
        try { Check(); }
        catch (IOException error)
        {
            throw new Broken(error);
        }
        return total;
    }
}
"#,
        &expect![[r#"
            BlockStart function: ⟦public int Load(string path)⏎{⏎foreach (var line in Read(path))⏎{⏎items.Add(Parse(line));⏎total++;⏎}⏎try { Check(); }⏎catch (IOException error)⏎{⏎throw new Broken(error);⏎}⏎return total;⏎}⟧
            BlockStart for: ⟦foreach (var line in Read(path))⏎{⏎items.Add(Parse(line));⏎total++;⏎}⟧
            HeaderEnd function: ⟦foreach (var line in Read(path))⏎{⏎items.Add(Parse(line));⏎total++;⏎}⏎try { Check(); }⏎catch (IOException error)⏎{⏎throw new Broken(error);⏎}⏎return total;⟧
            BlockStart statement: ⟦items.Add(Parse(line));⟧
            HeaderEnd for: ⟦items.Add(Parse(line));⏎total++;⟧
            MidStatement statement: items.A⟦dd(Parse(line));⟧
            RestOfBlock for: ⟦total++;⟧
            BlockStart statement: ⟦total++;⟧
            MidStatement statement: total⟦++;⟧
            Empty for: total++;⟦⟧
            BlockStart try: ⟦try { Check(); }⏎catch (IOException error)⏎{⏎throw new Broken(error);⏎}⟧
            MidStatement statement: try { Check⟦();⟧ }
            BlockStart catch: ⟦catch (IOException error)⏎{⏎throw new Broken(error);⏎}⟧
            HeaderEnd catch: ⟦throw new Broken(error);⟧
            BlockStart statement: ⟦throw new Broken(error);⟧
            MidStatement statement: throw new Broken⟦(error);⟧
            RestOfBlock function: ⟦return total;⟧
            BlockStart statement: ⟦return total;⟧
            MidStatement statement: return ⟦total;⟧
            Empty function: return total;⟦⟧
        "#]],
    );
}

#[test]
fn cpp() {
    check(
        Language::Cpp,
        r#"int Store::load(const std::string& path) {
    do {
        size -= 1;
        shrink(size);
    } while (size > 9);
    if (path.empty()) {
        return 0;
    } else if (size > 3)
        return size;
    return items[path].size();
}
"#,
        &expect![[r#"
            BlockStart function: ⟦int Store::load(const std::string& path) {⏎do {⏎size -= 1;⏎shrink(size);⏎} while (size > 9);⏎if (path.empty()) {⏎return 0;⏎} else if (size > 3)⏎return size;⏎return items[path].size();⏎}⟧
            BlockStart while: ⟦do {⏎size -= 1;⏎shrink(size);⏎} while (size > 9);⟧
            HeaderEnd function: ⟦do {⏎size -= 1;⏎shrink(size);⏎} while (size > 9);⏎if (path.empty()) {⏎return 0;⏎} else if (size > 3)⏎return size;⏎return items[path].size();⟧
            BlockStart statement: ⟦size -= 1;⟧
            HeaderEnd while: ⟦size -= 1;⏎shrink(size);⟧
            MidStatement statement: size -= ⟦1;⟧
            RestOfBlock while: ⟦shrink(size);⟧
            BlockStart statement: ⟦shrink(size);⟧
            MidStatement statement: shrink⟦(size);⟧
            Empty while: shrink(size);⟦⟧
            BlockStart if: ⟦if (path.empty()) {⏎return 0;⏎} else if (size > 3)⏎return size;⟧
            HeaderEnd if: ⟦return 0;⟧
            BlockStart statement: ⟦return 0;⟧
            MidStatement statement: return ⟦0;⟧
            HeaderEnd if: ⟦return size;⟧
            BlockStart statement: ⟦return size;⟧
            MidStatement statement: return si⟦ze;⟧
            RestOfBlock function: ⟦return items[path].size();⟧
            BlockStart statement: ⟦return items[path].size();⟧
            MidStatement statement: return items[path⟦].size();⟧
            Empty function: return items[path].size();⟦⟧
        "#]],
    );
}

/// Text with escapes, references, clusters and line ends of all kinds.
const SIGNS: [(Language, &str); 6] = [
    (
        Language::Python,
        "a = f\"x\\n{b}\\N{GREEK SMALL LETTER ALPHA}\" + 'e\u{301}' \\\r\n  + \"\\\\\" + \"\\\"\"\nb = a & c\n",
    ),
    (
        Language::Tsx,
        "const v = <p title=\"&quot;\">a&amp;b &#169; {`\\u{1F600}${c}\\\n  d`} 👩‍👩‍👧</p>;\r\nx = a &b;\n",
    ),
    (
        Language::Rust,
        "fn f() {\n    let a = \"one \\\n      two\\u{1F600}\";\n    g(&a, '\\'', b\"\\x00\");\n}\n",
    ),
    (Language::C, "char *a = \"\\x41\\101\\n\" \"\\\n  b\"; int c = a & b; char d = '\\'';\n"),
    (Language::CSharp, "var a = $\"{b}\\n\" + @\"c\\\" + $@\"{{\"\"\";\n"),
    (Language::Go, "var a = \"\\u00e9\\n\" + `\\n` + string('\\'') + f(&b)\n"),
];

#[test]
fn character_boundaries_follow_clusters_and_escapes() {
    for (language, text) in SIGNS {
        let tree = syntax::parse(language, text);
        for offset in (0..=text.len()).filter(|&offset| text.is_char_boundary(offset)) {
            let is_boundary =
                unicode_segmentation::GraphemeCursor::new(offset, text.len(), true).is_boundary(text, 0);
            let expected = is_boundary == Ok(true) && !tree.is_in_escape(offset);
            let found = super::is_at_character_boundaries(text, &tree, &(offset..offset));
            assert_eq!(found, expected, "{language:?} {:?}|{:?}", &text[..offset], &text[offset..]);
        }
    }
}
