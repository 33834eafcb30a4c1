//! Words with the same meaning in every file of a language: keywords, and built-in names that code does not rename.

use std::sync::LazyLock;

use crate::Language;

/// Whether `word` is a keyword or a very common built-in name of `language`. TypeScript and JavaScript share one list, and so
/// do C and C++: their files share code.
pub fn is_reserved(language: Language, word: &str) -> bool {
    let words = match language {
        Language::Python => &PYTHON,
        Language::TypeScript | Language::Tsx | Language::JavaScript => &SCRIPT,
        Language::Java => &JAVA,
        Language::CSharp => &CSHARP,
        Language::Rust => &RUST,
        Language::Go => &GO,
        Language::C | Language::Cpp => &C,
    };
    words.contains(word)
}

/// Whether renaming `word` could change how code of `language` parses: it is reserved, or a keyword in some places only, such as a
/// modifier or the name of a preprocessor directive.
pub fn has_syntactic_meaning(language: Language, word: &str) -> bool {
    let contextual = match language {
        Language::Python => "",
        Language::TypeScript | Language::Tsx | Language::JavaScript => {
            "accessor asserts bigint defer global meta out symbol target unique"
        }
        Language::Java => "exports module non open opens provides requires to transitive uses when with",
        Language::CSharp => {
            "add alias allows and ascending by descending disable dynamic elif enable endif endregion equals error field file from \
             global group into join let line managed nint not notnull nuint nullable on or orderby pragma region remove restore scoped \
             select undef unmanaged warning define"
        }
        Language::Rust => "auto default gen i128 macro raw safe try u128 union yield",
        Language::Go => "complex128 complex64 float32 float64 int16 int8 uint16 uint32 uintptr",
        Language::C | Language::Cpp => {
            "_Alignas _Alignof _Atomic _Bool _Complex _Generic _Noreturn _Static_assert _Thread_local __asm__ __attribute__ __declspec \
             __extension__ __inline __restrict and and_eq bitand bitor char16_t char32_t char8_t co_await co_return co_yield compl \
             concept consteval constinit defined elifdef elifndef error export include_next line module mutable not once or requires \
             thread_local typeof warning wchar_t xor"
        }
    };
    is_reserved(language, word) || contextual.split_ascii_whitespace().any(|known| known == word)
}

/// The sorted words of a language. They are looked up for every identifier of a workspace: few words have the same first letter, and fewer
/// of them the same length.
struct ReservedWords {
    words: Vec<&'static str>,
    /// For each ASCII character the position of the first word that begins with it or with a later one; at last the number of words.
    starts: [usize; 129],
}

impl ReservedWords {
    fn new(words: &'static str) -> ReservedWords {
        let words: Vec<&str> = words.split(' ').collect();
        let starts = std::array::from_fn(|first| {
            words.partition_point(|word| usize::from(word.as_bytes()[0]) < first)
        });
        ReservedWords { words, starts }
    }

    fn contains(&self, word: &str) -> bool {
        let first = word.bytes().next().filter(u8::is_ascii).map(usize::from);
        first.is_some_and(|first| self.words[self.starts[first]..self.starts[first + 1]].contains(&word))
    }
}

static PYTHON: LazyLock<ReservedWords> = LazyLock::new(|| {
    ReservedWords::new(
        "\
    False None True and as assert async await bool break bytes case class cls continue def del dict elif \
    else except finally float for from global if import in int is isinstance lambda len list match \
    nonlocal not object or pass raise range return self set str super try tuple type while with yield",
    )
});

static SCRIPT: LazyLock<ReservedWords> = LazyLock::new(|| {
    ReservedWords::new(
        "\
    Array Error Object Promise abstract any as async await boolean break case catch class const \
    constructor continue debugger declare default delete do else enum export extends false finally for \
    from function get if implements import in infer instanceof interface is keyof let module namespace \
    never new null number object of override private protected public readonly return satisfies set \
    static string super switch this throw true try type typeof undefined unknown var void while with \
    yield",
    )
});

static JAVA: LazyLock<ReservedWords> = LazyLock::new(|| {
    ReservedWords::new(
        "\
    Object Override String abstract assert boolean break byte case catch char class const continue \
    default do double else enum extends false final finally float for goto if implements import \
    instanceof int interface long native new null package permits private protected public record return \
    sealed short static strictfp super switch synchronized this throw throws transient true try var void \
    volatile while yield",
    )
});

static CSHARP: LazyLock<ReservedWords> = LazyLock::new(|| {
    ReservedWords::new(
        "\
    Task abstract as async await base bool break byte case catch char checked class const continue \
    decimal default delegate do double else enum event explicit extern false finally fixed float for \
    foreach get goto if implicit in init int interface internal is lock long nameof namespace new not \
    null object operator out override params partial private protected public readonly record ref \
    required return sbyte sealed set short sizeof stackalloc static string struct switch this throw true \
    try typeof uint ulong unchecked unsafe ushort using value var virtual void volatile when where while \
    with yield",
    )
});

static RUST: LazyLock<ReservedWords> = LazyLock::new(|| {
    ReservedWords::new(
        "\
    Err None Ok Option Result Self Some String Vec as async await bool break char const continue crate \
    dyn else enum extern f32 f64 false fn for i16 i32 i64 i8 if impl in isize let loop macro_rules match \
    mod move mut pub ref return self static str struct super trait true type u16 u32 u64 u8 unsafe use \
    usize where while",
    )
});

static GO: LazyLock<ReservedWords> = LazyLock::new(|| {
    ReservedWords::new(
        "\
    any append bool break byte cap case chan const continue copy default defer delete else err error \
    fallthrough false float32 float64 for func go goto if import int int32 int64 interface iota len make \
    map new nil package panic range return rune select string struct switch true type uint uint16 uint32 \
    uint64 uint8 var",
    )
});

static C: LazyLock<ReservedWords> = LazyLock::new(|| {
    ReservedWords::new(
        "\
    NULL alignas alignof asm auto bool break case catch char class const const_cast constexpr continue \
    decltype default define defined delete do double dynamic_cast elif else endif enum explicit extern \
    false final float for friend goto if ifdef ifndef include inline int int32_t int64_t long mutable \
    namespace new noexcept nullptr operator override pragma private protected public register \
    reinterpret_cast restrict return short signed size_t sizeof static static_assert static_cast std \
    struct switch template this throw true try typedef typename uint16_t uint32_t uint64_t uint8_t undef \
    union unsigned using virtual void volatile while",
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_word_lists_are_sorted_and_unique() {
        for words in [&PYTHON, &SCRIPT, &JAVA, &CSHARP, &RUST, &GO, &C] {
            let list = &words.words;
            assert!(list.is_sorted_by(|a, b| a < b) && list.iter().all(|word| word.is_ascii()), "{list:?}");
            assert!(list.iter().all(|word| words.contains(word)), "{list:?}");
        }
        assert!(is_reserved(Language::Tsx, "readonly") && is_reserved(Language::Cpp, "sizeof"));
        assert!(!is_reserved(Language::Python, "readonly") && !is_reserved(Language::Rust, "selfish"));
        assert!(!is_reserved(Language::C, "") && !is_reserved(Language::C, "größe"));
    }
}
