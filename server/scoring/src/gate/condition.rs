//! The language of conditions: comparisons of measures over slices, with `and`, `or`, `not` and parentheses.
//!
//! ```text
//! exact_match[language=python, engine=qwen] < 40% and not (p95 < 800ms or failed <= 2%)
//! ```
//!
//! Parsing is bounded in length, depth and number of comparisons, and its errors name the column.

use std::str::FromStr;

use cases::{BlockKind, Case, Metric, MetricSource, Scenario};
use syntax::Language;

/// Longest condition, bytes.
const MAX_LENGTH: usize = 2_000;
/// Deepest nesting of parentheses and `not`.
const MAX_DEPTH: usize = 20;

/// A condition on the engines of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The condition as written.
    pub text: String,
    pub(super) expression: Expression,
}

/// Why a condition is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {problem}")]
pub struct ConditionError {
    /// Place of the mistake in characters, from 1.
    pub column: usize,
    /// The mistake and its remedy.
    pub problem: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Comparison(Comparison),
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
}

impl Expression {
    /// Returns all comparisons, in order.
    pub(super) fn comparisons(&self) -> Vec<&Comparison> {
        match self {
            Expression::Comparison(comparison) => vec![comparison],
            Expression::Not(inner) => inner.comparisons(),
            Expression::And(left, right) | Expression::Or(left, right) => {
                [left.comparisons(), right.comparisons()].concat()
            }
        }
    }
}

/// A measure over a slice, compared with a number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comparison {
    /// Measure and slice as written.
    pub(super) subject: String,
    pub(super) measure: Measure,
    pub(super) slice: Slice,
    pub(super) operator: Operator,
    /// A share, milliseconds, an amount or a count, by the measure.
    pub(super) limit: f64,
}

/// A number about an engine's answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Measure {
    /// Ratio of sums of a metric.
    Metric(Metric),
    /// Percentile of latency, milliseconds; the share of faster answers.
    Latency(f64),
    /// Cost of a thousand answers.
    Cost,
    /// Number of cases.
    Cases,
}

/// Words for measures besides metrics.
const MEASURES: [(&str, Measure); 5] = [
    ("p50", Measure::Latency(0.5)),
    ("p95", Measure::Latency(0.95)),
    ("p99", Measure::Latency(0.99)),
    ("cost", Measure::Cost),
    ("cases", Measure::Cases),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Below,
    AtMost,
    Above,
    AtLeast,
}

impl Operator {
    pub(super) fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Operator::Below => value < limit,
            Operator::AtMost => value <= limit,
            Operator::Above => value > limit,
            Operator::AtLeast => value >= limit,
        }
    }
}

/// The cases with all of these properties, and the engine if one is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) engine: Option<String>,
    scenario: Option<Scenario>,
    language: Option<Language>,
    block_kind: Option<BlockKind>,
}

impl Slice {
    pub(super) fn contains(&self, case: &Case) -> bool {
        self.scenario.is_none_or(|scenario| case.scenario() == scenario)
            && self.language.is_none_or(|language| case.language == language.name())
            && self.block_kind.is_none_or(|kind| case.block_kind == Some(kind))
    }
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        if text.len() > MAX_LENGTH {
            let problem = format!("conditions have at most {MAX_LENGTH} bytes; split it into several");
            return Err(ConditionError { column: 1, problem });
        }
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens, next: 0, end: text.chars().count() + 1 };
        let expression = parser.alternatives(0)?;
        match parser.peek() {
            None => Ok(Condition { text: text.trim().to_owned(), expression }),
            Some(_) => Err(parser.expected("`and`, `or` or the end")),
        }
    }
}

impl Condition {
    /// Parses `METRIC=VALUE` and `METRIC[SLICE]=VALUE`: the condition that the measure is below the value.
    pub fn below(text: &str) -> Result<Condition, ConditionError> {
        let missing = |column| ConditionError {
            column,
            problem: "write METRIC=VALUE, such as exact_match=40%".to_owned(),
        };
        let after_slice = text.rfind(']').map_or(0, |bracket| bracket + 1);
        let Some(sign) = text[after_slice..].find('=').map(|sign| after_slice + sign) else {
            return Err(missing(text.chars().count() + 1));
        };
        let condition: Condition = format!("{}<{}", &text[..sign], &text[sign + 1..]).parse()?;
        match condition.expression {
            Expression::Comparison(_) => Ok(condition),
            _ => Err(missing(1)),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Quoted(String),
    Sign(&'static str),
}

/// A token with its column, from 1.
type PlacedToken = (usize, Token);

/// Signs; longer ones before their beginnings.
const SIGNS: [&str; 10] = ["<=", ">=", "<", ">", "(", ")", "[", "]", "=", ","];

fn tokens(text: &str) -> Result<Vec<PlacedToken>, ConditionError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut column = 1;
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_whitespace() {
            (None, first.len_utf8())
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Some(Token::Sign(sign)), sign.len())
        } else if first == '"' {
            let Some(length) = rest[1..].find('"') else {
                return Err(ConditionError { column, problem: "the quote is not closed".to_owned() });
            };
            (Some(Token::Quoted(rest[1..=length].to_owned())), length + 2)
        } else {
            let is_end = |c: char| c.is_whitespace() || "<>()[]=,\"".contains(c);
            let length = rest.find(is_end).unwrap_or(rest.len());
            (Some(Token::Word(rest[..length].to_owned())), length)
        };
        tokens.extend(token.map(|token| (column, token)));
        column += rest[..length].chars().count();
        rest = &rest[length..];
    }
    Ok(tokens)
}

struct Parser {
    tokens: Vec<PlacedToken>,
    next: usize,
    /// Column behind the text.
    end: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    fn column(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(column, _)| *column)
    }

    fn expected(&self, what: &str) -> ConditionError {
        ConditionError { column: self.column(), problem: format!("expected {what}") }
    }

    /// Skips the sign or word if it comes next.
    fn takes(&mut self, wanted: &str) -> bool {
        let is_next = match self.peek() {
            Some(Token::Sign(sign)) => *sign == wanted,
            Some(Token::Word(word)) => word == wanted,
            _ => false,
        };
        self.next += usize::from(is_next);
        is_next
    }

    fn alternatives(&mut self, depth: usize) -> Result<Expression, ConditionError> {
        let mut expression = self.conjunction(depth)?;
        while self.takes("or") {
            expression = Expression::Or(Box::new(expression), Box::new(self.conjunction(depth)?));
        }
        Ok(expression)
    }

    fn conjunction(&mut self, depth: usize) -> Result<Expression, ConditionError> {
        let mut expression = self.operand(depth)?;
        while self.takes("and") {
            expression = Expression::And(Box::new(expression), Box::new(self.operand(depth)?));
        }
        Ok(expression)
    }

    fn operand(&mut self, depth: usize) -> Result<Expression, ConditionError> {
        if depth > MAX_DEPTH {
            let problem = format!("conditions are nested at most {MAX_DEPTH} deep; split it into several");
            return Err(ConditionError { column: self.column(), problem });
        }
        if self.takes("not") {
            return Ok(Expression::Not(Box::new(self.operand(depth + 1)?)));
        }
        if self.takes("(") {
            let inner = self.alternatives(depth + 1)?;
            return if self.takes(")") { Ok(inner) } else { Err(self.expected("`)`, `and` or `or`")) };
        }
        self.comparison().map(Expression::Comparison)
    }

    fn comparison(&mut self) -> Result<Comparison, ConditionError> {
        let Some(Token::Word(word)) = self.peek().cloned() else {
            return Err(self.expected(&format!("a measure: {}", known_measures())));
        };
        let Some(measure) = measure(&word) else {
            let problem = format!("unknown measure `{word}`; known are {}", known_measures());
            return Err(ConditionError { column: self.column(), problem });
        };
        self.next += 1;
        let (slice, written) = if self.takes("[") { self.slice()? } else { Default::default() };
        let signs = [
            ("<=", Operator::AtMost),
            (">=", Operator::AtLeast),
            ("<", Operator::Below),
            (">", Operator::Above),
        ];
        let Some((_, operator)) = signs.into_iter().find(|(sign, _)| self.takes(sign)) else {
            return Err(self.expected("`<`, `<=`, `>` or `>=`"));
        };
        let limit = self.limit(measure)?;
        Ok(Comparison { subject: word + &written, measure, slice, operator, limit })
    }

    /// Parses the rest of a slice behind its bracket, and returns it with its text.
    fn slice(&mut self) -> Result<(Slice, String), ConditionError> {
        let mut slice = Slice::default();
        let mut written: Vec<String> = Vec::new();
        loop {
            let column = self.column();
            let Some(Token::Word(key)) = self.peek().cloned() else {
                return Err(self.expected("engine, scenario, language or block_kind"));
            };
            self.next += 1;
            if !self.takes("=") {
                return Err(self.expected("`=`"));
            }
            let Some(Token::Word(value) | Token::Quoted(value)) = self.peek().cloned() else {
                return Err(self.expected("a value"));
            };
            let place = self.column();
            self.next += 1;
            let at = |problem: String| ConditionError { column: place, problem };
            let is_new = match key.as_str() {
                "engine" => slice.engine.replace(value.clone()).is_none(),
                "scenario" => slice.scenario.replace(value.parse().map_err(at)?).is_none(),
                "block_kind" => slice.block_kind.replace(value.parse().map_err(at)?).is_none(),
                "language" => slice.language.replace(language(&value).map_err(at)?).is_none(),
                _ => {
                    let problem =
                        format!("unknown key `{key}`; known are engine, scenario, language, block_kind");
                    return Err(ConditionError { column, problem });
                }
            };
            if !is_new {
                return Err(ConditionError { column, problem: format!("`{key}` is given twice") });
            }
            written.push(format!("{key}={value}"));
            if self.takes("]") {
                return Ok((slice, format!("[{}]", written.join(", "))));
            }
            if !self.takes(",") {
                return Err(self.expected("`,` or `]`"));
            }
        }
    }

    fn limit(&mut self, measure: Measure) -> Result<f64, ConditionError> {
        let form = match measure {
            Measure::Metric(_) => "a share, such as 40% or 0.4",
            Measure::Latency(_) => "a time, such as 800ms or 1.5s",
            Measure::Cost => "an amount, such as 0.25",
            Measure::Cases => "a number, such as 100",
        };
        let Some(Token::Word(word)) = self.peek() else { return Err(self.expected(form)) };
        let units: &[(&str, f64)] = match measure {
            Measure::Metric(_) => &[("%", 0.01), ("", 1.0)],
            Measure::Latency(_) => &[("ms", 1.0), ("s", 1_000.0), ("", 1.0)],
            Measure::Cost | Measure::Cases => &[("", 1.0)],
        };
        let number = units.iter().find_map(|(unit, factor)| {
            let number: f64 = word.strip_suffix(unit)?.parse().ok()?;
            Some(number * factor)
        });
        let is_valid = |number: &f64| match measure {
            Measure::Metric(_) => (0.0..=1.0).contains(number),
            _ => number.is_finite() && *number >= 0.0,
        };
        let limit = number.filter(is_valid).ok_or_else(|| self.expected(form))?;
        self.next += 1;
        Ok(limit)
    }
}

fn measure(word: &str) -> Option<Measure> {
    let other = MEASURES.into_iter().find(|(name, _)| *name == word).map(|(_, measure)| measure);
    let metric = || word.parse().ok().filter(|metric: &Metric| metric.spec().source != MetricSource::Context);
    other.or_else(|| metric().map(Measure::Metric))
}

fn known_measures() -> String {
    let metrics = Metric::ALL.iter().filter(|metric| metric.spec().source != MetricSource::Context);
    let names = metrics.map(|metric| metric.name()).chain(MEASURES.iter().map(|(name, _)| *name));
    names.collect::<Vec<_>>().join(", ")
}

fn language(name: &str) -> Result<Language, String> {
    Language::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Language::ALL.into_iter().map(Language::name).collect();
        format!("unknown language `{name}`; known are {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn error(text: &str, column: usize, part: &str) {
        let error = text.parse::<Condition>().expect_err(text);
        assert!(error.column == column && error.problem.contains(part), "{error}");
    }

    #[test]
    fn conditions_combine_comparisons_of_slices() {
        let text =
            "exact_match[language=python, engine=\"my engine\"] < 40% and not (p95 >= 1.5s or failed > 0.02)";
        let condition: Condition = text.parse().expect("valid");
        let [exact, latency, failed] = condition.expression.comparisons().try_into().expect("three");
        assert_eq!(exact.subject, "exact_match[language=python, engine=my engine]");
        assert_eq!(
            (exact.slice.engine.as_deref(), exact.slice.language),
            (Some("my engine"), Some(Language::Python))
        );
        assert_eq!((exact.operator, exact.limit), (Operator::Below, 0.4));
        assert_eq!(
            (latency.measure, latency.operator, latency.limit),
            (Measure::Latency(0.95), Operator::AtLeast, 1500.0)
        );
        assert_eq!((failed.measure, failed.limit), (Measure::Metric(Metric::Failed), 0.02));
        assert!(matches!(condition.expression, Expression::And(..)));
    }

    #[test]
    fn mistakes_are_reported_with_their_column() {
        error("", 1, "expected a measure");
        error("exact < 1", 1, "unknown measure `exact`; known are");
        error("definition_hit < 1", 1, "unknown measure");
        error("exact_match 40%", 13, "expected `<`");
        error("exact_match < 40", 15, "a share, such as 40%");
        error("exact_match < 140%", 15, "a share");
        error("p95 < -1ms", 7, "a time");
        error("p95 < inf", 7, "a time");
        error("cases < 1 2", 11, "expected `and`, `or` or the end");
        error("exact_match[language=cobol] < 1", 22, "unknown language `cobol`");
        error("exact_match[scenario=rag,scenario=rag] < 1", 26, "given twice");
        error("exact_match[colour=red] < 1", 13, "unknown key `colour`");
        error("(cases < 1", 11, "expected `)`");
        error("cases < 1 and \"x", 15, "not closed");
        error(&format!("{}cases < 1", "(".repeat(30)), 22, "nested at most");
        error(&"not ".repeat(400), 85, "nested at most");
        error(&"cases<1 or ".repeat(400), 1, "at most 2000 bytes");
    }

    #[test]
    fn minimum_values_are_conditions() {
        let below = |text: &str| Condition::below(text);
        assert_eq!(below("exact_match=40%"), "exact_match<40%".parse());
        assert_eq!(below("exact_match[language=go]=0.4"), "exact_match[language=go]<0.4".parse());
        assert!(below("exact_match").is_err_and(|error| error.to_string().contains("write METRIC=VALUE")));
        assert!(below("exact_match=40% or cases<1").is_err());
        assert!(below("exact_match=").is_err_and(|error| error.problem.contains("a share")));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "[a-z0-9_<>=()\\[\\], \"%é]{0,60}") {
            if let Err(error) = text.parse::<Condition>() {
                proptest::prop_assert!((1..=text.chars().count() + 1).contains(&error.column), "{error}");
            }
            let _ = Condition::below(&text);
        }
    }
}
