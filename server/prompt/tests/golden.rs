//! Compares the estimate with real tokenizers on whole repositories.
//!
//! `GHOSTBENCH_GOLDEN` names the folder with their files. Without it the test reports that and checks nothing.

use std::path::PathBuf;

use prompt::{SAMPLE, TokenEstimator, estimate, max_tokens};
use serde_json::Value;
use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

/// Maximum relative error below the true count.
const LOW: f64 = 0.10;

/// Minimum ratio of the estimate to the true count for texts other than code: random characters and lists of words.
const LEAST_SHARE_OF_UNUSUAL_TEXT: f64 = 0.8;

/// Minimum tokens of a file; rounding dominates in smaller ones.
const LEAST_TOKENS: usize = 100;

fn tokens(bpe: &CoreBPE, text: &str) -> usize {
    bpe.encode_ordinary(text).len()
}

fn highest_token_count(text: &str) -> usize {
    tokens(o200k_base_singleton(), text).max(tokens(cl100k_base_singleton(), text))
}

#[test]
fn sample_token_count_matches_the_tokenizers() {
    let text = "fn main() {}\n";
    assert_eq!(TokenEstimator::calibrated(highest_token_count(SAMPLE)).count(text), estimate(text));
}

/// Texts for which neither the tokenizers nor the estimate were made.
fn unusual_texts() -> Vec<(&'static str, String)> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut random = |alphabet: &str| {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..2_000).map(|_| alphabet[next() as usize % alphabet.len()]).collect::<String>()
    };
    vec![
        ("base64", random("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")),
        ("hexadecimal", random("0123456789abcdef")),
        ("small letters", random("abcdefghijklmnopqrstuvwxyz")),
        ("signs", random("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")),
        (
            "Chinese",
            random(
                "的一是了我不人在他有这上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多",
            ),
        ),
        ("rare scripts", random("ԱԲԳაბგሀሁሂකඛกขคᚠᚢ𐤀𐤁𓀀𓀁")),
        ("emoji", random("😀🦀🔥👩🏽💻🏳🌈✈")),
        ("control characters", random("\u{1}\u{7}\u{1b}\u{85}\u{200b}\u{202e}\u{feff}")),
        ("German words", WORDS_GERMAN.replace(' ', "\", \"")),
        ("Polish words", WORDS_POLISH.replace(' ', "\n")),
        ("Turkish words", WORDS_TURKISH.replace(' ', ", ")),
    ]
}

const WORDS_GERMAN: &str = "aber alle allem allen aller alles als also andere anderem anderen anderer anderes bist damit dann denn derselbe \
    dessen dieser doch dort durch eines einige einmal gegen gewesen habe haben hatte hier hinter jedem jener jetzt keine können könnte machen \
    manche mancher meine mich nicht nichts noch oder ohne sehr seine selbst sich sind solche sollte sondern unser unter viel während welche \
    werden wieder wollen würde zwischen";
const WORDS_POLISH: &str = "aczkolwiek albo ależ ani aż bardzo bez bowiem byli bynajmniej być był cali całej chce choć coś cokolwiek czasami czasem \
    czemu czy czyli daleko dla dlaczego dlatego dobrze dokąd dość dużo dwaj dzisiaj dziś gdy gdyby gdyż gdzie gdziekolwiek ich ile inna inny \
    ja jak jakaś jakby jaki jakichś jakie jakiś jakiż jakkolwiek jako jakoś jeden jedna jednak jednakże jego jej";
const WORDS_TURKISH: &str = "acaba altmış altı ama ancak arada aslında ayrıca bana bazı belki ben benden beni benim beri beş bile bin bir birçok biri \
    birkaç birkez birşey birşeyi biz bize bizden bizi bizim böyle böylece bunda bundan bunlar bunları bunların bunu bunun burada çok çünkü daha dahi \
    değil diğer diye doksan dokuz dolayı dolayısıyla dört edecek eden ederek edilecek";

#[test]
fn unusual_text_is_within_max_tokens_and_near_its_estimate() {
    let mut low = Vec::new();
    for (name, text) in unusual_texts() {
        let (truth, most) = (highest_token_count(&text), max_tokens(text.len()));
        assert!(truth <= most, "{name}: {truth} tokens, at most {most}");
        let share = estimate(&text) as f64 / truth as f64;
        eprintln!("{name}: the estimate is {share:.2} of {truth} tokens");
        if share < LEAST_SHARE_OF_UNUSUAL_TEXT {
            low.push(format!("{name}: {share:.2}"));
        }
    }
    assert!(low.is_empty(), "{low:?}");
}

#[test]
fn golden_no_estimate_is_far_too_low() {
    let Some(folder) = std::env::var_os("GHOSTBENCH_GOLDEN").map(PathBuf::from) else {
        eprintln!("skipped: GHOSTBENCH_GOLDEN is not set");
        return;
    };
    let (mut files, mut low, mut shares) = (0, Vec::new(), Vec::new());
    for (name, field) in [("cceval_repos.jsonl", "files"), ("repoqa_repos.jsonl", "content")] {
        let path = folder.join(name);
        let rows =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for row in rows.lines() {
            let row: Value = serde_json::from_str(row).expect("a row of JSON");
            let (mut estimated, mut counted) = (0, 0);
            for (path, text) in row[field].as_object().expect("files by path") {
                let text = text.as_str().expect("a file is text");
                let (estimate, truth) = (estimate(text), highest_token_count(text));
                (estimated, counted, files) = (estimated + estimate, counted + truth, files + 1);
                if truth >= LEAST_TOKENS && (estimate as f64) < truth as f64 * (1.0 - LOW) {
                    low.push(format!("{path}: {estimate} of {truth}"));
                }
            }
            shares.push(estimated as f64 / counted as f64);
        }
    }
    assert!(files > 0, "there are no files");
    eprintln!("{files} files, estimates of repositories over the truth: {shares:.2?}");
    assert!(low.is_empty(), "{low:#?}");
}
