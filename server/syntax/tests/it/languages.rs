//! The table of languages.

use syntax::Language;

#[test]
fn language_is_detected_from_the_path() {
    let cases = [
        ("a/b.py", Some(Language::Python)),
        ("b.pyi", Some(Language::Python)),
        ("a.ts", Some(Language::TypeScript)),
        ("a.d.mts", Some(Language::TypeScript)),
        ("a.cts", Some(Language::TypeScript)),
        ("a.tsx", Some(Language::Tsx)),
        ("a.js", Some(Language::JavaScript)),
        ("a.jsx", Some(Language::JavaScript)),
        ("a.mjs", Some(Language::JavaScript)),
        ("a.cjs", Some(Language::JavaScript)),
        ("A.java", Some(Language::Java)),
        ("A.cs", Some(Language::CSharp)),
        ("a.rs", Some(Language::Rust)),
        ("a_test.go", Some(Language::Go)),
        ("a.c", Some(Language::C)),
        ("a.h", Some(Language::C)),
        ("a.cc", Some(Language::Cpp)),
        ("a.cpp", Some(Language::Cpp)),
        ("a.cxx", Some(Language::Cpp)),
        ("a.hpp", Some(Language::Cpp)),
        ("a.hh", Some(Language::Cpp)),
        ("a.hxx", Some(Language::Cpp)),
        (r"src\a.rs", Some(Language::Rust)),
        ("a.py/b", None),
        ("py", None),
        ("a.txt", None),
        ("a.", None),
        ("", None),
    ];
    for (path, language) in cases {
        assert_eq!(Language::from_path(path), language, "{path}");
    }
}

#[test]
fn language_is_found_by_name() {
    for language in Language::ALL {
        assert_eq!(Language::from_name(language.name()), Some(language));
    }
    assert_eq!(Language::from_name("Python"), None);
}

#[test]
fn missing_tokens_are_not_syntax_errors() {
    let has_error = |text| syntax::parse(Language::Python, text).has_error();
    assert!(!has_error("def f():\n    return 1\n"));
    assert!(has_error("def f(x y):\n    pass\n"));
    assert!(has_error("x = 1\n\ndef f():\n    return )\n"));
    assert!(!syntax::parse(Language::C, "int x = 1").has_error());
}
