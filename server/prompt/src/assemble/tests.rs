//! Compares the fitting of prompts with the plain algorithm, which reads each text anew whenever it is counted.

use proptest::prelude::*;
use syntax::Language;
use text::Snippet;

use super::*;
use crate::model_families::FAMILIES;
use crate::token_estimate::work;

type Measure<'a> = &'a dyn Fn(&str) -> usize;

const BLOCK_LINES: usize = 16;
const MAX_TOKEN_BYTES: usize = 128;
const LINE_TOKEN_BYTES: usize = 8;

struct Cut {
    at: usize,
    tokens: usize,
}

/// Keeps the last lines of a text, or the end of its last line if that alone is too long.
fn keep_end(text: &str, quota: usize, meter: Measure<'_>) -> Cut {
    let kept = keep_lines(text.len(), 0, quota, meter, |from, lines| {
        let start = (0..lines).fold(from, |start, _| line_start(text, start));
        (start, &text[start..from])
    });
    if kept.at < text.len() {
        return kept;
    }
    let line = &text[line_start(text, text.len())..];
    let (bytes, tokens) =
        keep_of_line(line, quota, meter, |bytes| &line[line.ceil_char_boundary(line.len() - bytes)..]);
    Cut { at: text.len() - bytes, tokens }
}

/// Keeps the first lines of a text, or the beginning of its first line if that alone is too long.
fn keep_beginning(text: &str, quota: usize, meter: Measure<'_>) -> Cut {
    let kept = keep_lines(0, text.len(), quota, meter, |from, lines| {
        let end = (0..lines).fold(from, |end, _| line_end(text, end));
        (end, &text[from..end])
    });
    if kept.at > 0 {
        return kept;
    }
    let line = &text[..line_end(text, 0)];
    let (bytes, tokens) = keep_of_line(line, quota, meter, |bytes| &line[..line.floor_char_boundary(bytes)]);
    Cut { at: bytes, tokens }
}

/// Adds lines from one end of a text while the quota lasts. `piece` returns a number of lines from an offset on, and the offset
/// behind them.
fn keep_lines<'t>(
    from: usize,
    to: usize,
    quota: usize,
    meter: Measure<'_>,
    piece: impl Fn(usize, usize) -> (usize, &'t str),
) -> Cut {
    let mut kept = Cut { at: from, tokens: 0 };
    let mut lines = BLOCK_LINES;
    while kept.at != to {
        let (next, text) = piece(kept.at, lines);
        let rest = quota - kept.tokens;
        let tokens = (text.len() <= rest.saturating_mul(MAX_TOKEN_BYTES)).then(|| meter(text));
        match tokens.filter(|tokens| *tokens <= rest) {
            Some(tokens) => kept = Cut { at: next, tokens: kept.tokens + tokens },
            None if lines > 1 => lines = 1,
            None => break,
        }
    }
    kept
}

/// Returns how many bytes of a line fit into the quota, and their tokens. `cut` keeps at most so many bytes of the line.
fn keep_of_line<'t>(
    line: &str,
    quota: usize,
    meter: Measure<'_>,
    cut: impl Fn(usize) -> &'t str,
) -> (usize, usize) {
    let (mut most, mut tokens_of_most) = (0, 0);
    let mut too_many = line.len().min(quota.saturating_mul(LINE_TOKEN_BYTES)) + 1;
    let mut fits = 0;
    while fits + 1 < too_many {
        let middle = fits.midpoint(too_many);
        let part = cut(middle);
        let tokens = meter(part);
        if tokens <= quota {
            fits = middle;
            if part.len() > most {
                (most, tokens_of_most) = (part.len(), tokens);
            }
        } else {
            too_many = middle;
        }
    }
    (most, tokens_of_most)
}

/// Returns the start of the line that ends at `end`.
fn line_start(text: &str, end: usize) -> usize {
    let without_end = text[..end].strip_suffix('\n').unwrap_or(&text[..end]);
    without_end.rfind('\n').map_or(0, |line_end| line_end + 1)
}

/// Returns the end of the line that begins at `start`, behind its line end.
fn line_end(text: &str, start: usize) -> usize {
    text[start..].find('\n').map_or(text.len(), |length| start + length + 1)
}

/// The text of the prompt without context, or `None` if the template alone is too long.
fn plain_prompt(template: &Template, input: &PromptInput, budget: usize, sample: usize) -> Option<String> {
    let estimator = TokenEstimator::calibrated(sample);
    let tokens = template.tokens();
    let escaper = Escaper::new(&tokens);
    let measure = |text: &str| if text.is_empty() { 0 } else { estimator.count(&escaper.escape(text)) };
    let (prefix, suffix) = (input.prefix(), input.suffix());
    let fill = |start: usize, end: usize| {
        let values = LayoutValues {
            layout: template.file(),
            prefix: escaper.escape(&prefix[start..]),
            suffix: escaper.escape(&suffix[..end]),
            empty_suffix: template.empty_suffix(),
            context: String::new(),
            path: escaper.escape(&input.path),
            language: prompt_name(input.language),
        };
        values.render().0
    };
    let count =
        |text: &str| estimator.count(text) + template.system().map_or(0, |text| estimator.count(text));
    let empty = fill(prefix.len(), 0);
    let needed = count(&empty);
    if needed > budget {
        return None;
    }
    let mut less = 0;
    loop {
        let room = (budget - needed).saturating_sub(less);
        if room == 0 {
            return Some(empty);
        }
        let mut end = keep_beginning(suffix, room, &measure);
        let mut start = keep_end(prefix, room, &measure);
        let wanted = [end.tokens, start.tokens];
        let [suffix_quota, prefix_quota] = plain_quotas(room, wanted);
        if wanted[0] > suffix_quota {
            end = keep_beginning(suffix, suffix_quota, &measure);
        }
        let prefix_quota = prefix_quota + suffix_quota.saturating_sub(end.tokens);
        if wanted[1] > prefix_quota {
            start = keep_end(prefix, prefix_quota, &measure);
        }
        let text = fill(start.at, end.at);
        let tokens = count(&text);
        if tokens <= budget {
            return Some(text);
        }
        less += (tokens - budget).max(less);
    }
}

fn plain_quotas(room: usize, wanted: [usize; 2]) -> [usize; 2] {
    let [_, suffix, prefix] = quotas(room, [CONTEXT_SHARE, SUFFIX_SHARE, PREFIX_SHARE], |part, limit| {
        let wanted = [0, wanted[0], wanted[1]][part];
        (wanted <= limit).then_some(wanted)
    });
    [suffix, prefix]
}

fn input(text: &str, cursor: usize, context: &[Snippet]) -> PromptInput {
    PromptInput {
        path: "src/a.py".into(),
        language: Language::Python,
        text: text.into(),
        cursor: text.floor_char_boundary(cursor),
        context: context.into(),
    }
}

fn quotas_of(room: usize, shares: [u32; 3], wanted: [usize; 3]) -> [usize; 3] {
    quotas(room, shares, |part, limit| (wanted[part] <= limit).then_some(wanted[part]))
}

#[test]
fn quotas_follow_the_shares() {
    assert_eq!(quotas_of(100, [50, 20, 30], [900, 900, 900]), [50, 20, 30]);
}

#[test]
fn unused_quota_goes_to_the_other_parts() {
    assert_eq!(quotas_of(100, [50, 20, 30], [0, 900, 900]), [0, 40, 60]);
    assert_eq!(quotas_of(100, [50, 20, 30], [10, 5, 900]), [10, 5, 85]);
    assert_eq!(quotas_of(100, [50, 20, 30], [10, 5, 20]), [10, 5, 20]);
    assert_eq!(quotas_of(100, [50, 20, 30], [900, 900, 1]), [70, 28, 1]);
}

#[test]
fn parts_without_a_share_get_the_remaining_quota() {
    assert_eq!(quotas_of(100, [0, 1, 1], [90, 20, 30]), [50, 20, 30]);
    assert_eq!(quotas_of(100, [0, 0, 0], [30, 90, 90]), [30, 70, 0]);
}

/// A file of code with this number of lines.
fn code(lines: usize) -> String {
    let line = |line: usize| match line % 5 {
        0 => format!("def compute_{line}(value, offset):\n"),
        1 => "    # Returns the sum of both, or the offset alone if there is no value.\n".to_owned(),
        2 => format!("    result = self.values.get('key_{line}', None) or <T>[{line}]\n"),
        3 => "    return result + offset\n".to_owned(),
        _ => "\n".to_owned(),
    };
    (0..lines).map(line).collect()
}

/// The work of fitting: each byte that is sent is read once, besides a few lines at the ends of the parts.
#[test]
fn each_byte_is_estimated_once() {
    let template = Template::Family(&FAMILIES[0]);
    for lines in [60, 600, 3_000, 30_000] {
        let text = code(lines);
        let input = input(&text, text.len() / 2, &[]);
        let assembled =
            || assemble(&template, &input, 4096, TokenEstimator::default(), &LinePrices::default());
        let (prompt, read) = work::of(assembled);
        let sent = prompt.expect("it fits").text.len();
        assert!(
            read <= sent + sent / 8 + 4096,
            "{read} bytes are read for a prompt of {sent}, {lines} lines"
        );
    }
}

#[test]
fn whole_snippets_of_context_are_estimated_once() {
    let template = Template::Family(&FAMILIES[0]);
    let context: Vec<Snippet> =
        (0..6).map(|number| Snippet::new(format!("src/{number}.py"), code(20 + number))).collect();
    let text = code(600);
    let input = input(&text, text.len() / 2, &context);
    let prices = LinePrices::default();
    let (prompt, read) = work::of(|| assemble(&template, &input, 8192, TokenEstimator::default(), &prices));
    let prompt = prompt.expect("it fits");
    assert!(prompt.kept_context.iter().all(|bytes| *bytes > 0));
    let sent = prompt.text.len();
    assert!(read <= sent + sent / 8 + 4096, "{read} bytes are read for a prompt of {sent}");
}

/// The work of fitting while typing: only the line of the cursor is new.
#[test]
fn lines_of_an_earlier_prompt_are_not_estimated_again() {
    let template = Template::Family(&FAMILIES[0]);
    let prices = LinePrices::default();
    for lines in [60, 600, 3_000, 30_000] {
        let mut text = code(lines);
        let start = text.len() / 2;
        for key in 0..4 {
            let input = input(&text, start + key, &[]);
            let (prompt, read) =
                work::of(|| assemble(&template, &input, 4096, TokenEstimator::default(), &prices));
            prompt.expect("it fits");
            assert!(key == 0 || read <= 1024, "{read} bytes are read for key {key}, {lines} lines");
            text.insert(start + key, 'x');
        }
    }
}

/// A snippet that is cut is rendered several times until it fits.
#[test]
fn cut_snippets_of_context_are_estimated_once() {
    let template = Template::Family(&FAMILIES[0]);
    let context: Vec<Snippet> =
        (0..3).map(|number| Snippet::new(format!("src/{number}.py"), code(400))).collect();
    let text = code(600);
    let input = input(&text, text.len() / 2, &context);
    let prices = LinePrices::default();
    let (prompt, read) = work::of(|| assemble(&template, &input, 4096, TokenEstimator::default(), &prices));
    let prompt = prompt.expect("it fits");
    assert!(prompt.kept_context.iter().any(|bytes| *bytes > 0 && *bytes < context[0].text.len()));
    let candidates = prompt.text.len() + context[0].text.len();
    assert!(read <= candidates + candidates / 8 + 4096, "{read} bytes are read for {candidates}");
}

proptest! {
    #[test]
    fn remembered_prices_change_no_prompt(
        lines in prop::collection::vec("[ ]{0,8}([a-zA-Z]{1,9}[ =.,('é<]{0,2}|[0-9]{1,4}|<fim_prefix>|\r){0,9}", 1..60),
        snippets in prop::collection::vec("([a-zA-Z =.(\r\n]{0,90}\n){1,9}", 0..4),
        requests in prop::collection::vec((0.0..1.0, 0_usize..60, 0_usize..700, 0..FAMILIES.len(), 400_usize..900), 1..6),
    ) {
        let mut lines = lines;
        let prices = LinePrices::default();
        let context: Vec<Snippet> = snippets.iter().map(|text| Snippet::new("b.py", text.as_str())).collect();
        for (cursor, edited, budget, family, sample) in requests {
            let edited = edited % lines.len();
            lines[edited].push_str(" é<fim_");
            let text = lines.join("\n");
            let input = input(&text, (text.len() as f64 * cursor) as usize, &context);
            let template = Template::Family(&FAMILIES[family]);
            let estimator = TokenEstimator::calibrated(sample);
            let remembered = assemble(&template, &input, budget, estimator, &prices);
            let fresh = assemble(&template, &input, budget, estimator, &LinePrices::default());
            prop_assert_eq!(remembered, fresh);
        }
    }

    #[test]
    fn prompts_are_those_of_the_plain_algorithm(
        lines in prop::collection::vec("[ ]{0,8}([a-zA-Z]{1,9}[ =.,('é<]{0,2}|[0-9]{1,4}|<fim_prefix>){0,9}", 0..80),
        cursor in 0.0..1.0,
        budget in 0_usize..700,
        family in 0..FAMILIES.len(),
        sample in 400_usize..900,
    ) {
        let text = lines.join("\n");
        let input = input(&text, (text.len() as f64 * cursor) as usize, &[]);
        let template = Template::Family(&FAMILIES[family]);
        let prices = LinePrices::default();
        let prompt = assemble(&template, &input, budget, TokenEstimator::calibrated(sample), &prices);
        let expected = plain_prompt(&template, &input, budget, sample);
        prop_assert_eq!(prompt.ok().map(|prompt| prompt.text), expected);
    }

    #[test]
    fn a_prompt_with_context_is_within_its_budget(
        snippets in prop::collection::vec("([a-zA-Z =.(\n]{0,90}\n){1,9}", 1..5),
        lines in prop::collection::vec("[a-z =(]{0,40}", 0..60),
        budget in 0_usize..900,
        family in 0..FAMILIES.len(),
    ) {
        let text = lines.join("\n");
        let context: Vec<Snippet> = snippets.iter().map(|text| Snippet::new("b.py", text.as_str())).collect();
        let input = input(&text, text.len() / 2, &context);
        let template = Template::Family(&FAMILIES[family]);
        let prices = LinePrices::default();
        if let Ok(prompt) = assemble(&template, &input, budget, TokenEstimator::default(), &prices) {
            prop_assert!(TokenEstimator::default().count(&prompt.text) <= budget);
            for (snippet, bytes) in context.iter().zip(&prompt.kept_context) {
                prop_assert!(*bytes <= snippet.text.len());
            }
        }
    }
}
