//! Reports in JUnit's XML format, as Surefire, CTest, Node.js and most other runners write them.

use std::time::Duration;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{TestResults, TestState};

/// Elements that are read; a report of any test suite has fewer.
const MAX_EVENTS: usize = 2_000_000;

/// Adds the test cases of a report. Ids are the class (or the file, or the suite) and the name: `a.B::adds`. Text after a syntax
/// error is ignored.
pub(super) fn read_report(xml: &str, results: &mut TestResults) {
    let mut reader = Reader::from_str(xml);
    let mut case: Option<(String, TestState, Option<Duration>)> = None;
    for _ in 0..MAX_EVENTS {
        match reader.read_event() {
            Ok(Event::Start(element)) if element.name().as_ref() == "testcase" => {
                case = Some(test_case(&element))
            }
            Ok(Event::Empty(element)) if element.name().as_ref() == "testcase" => {
                let (id, state, time) = test_case(&element);
                results.add(id, state, time);
            }
            Ok(Event::Start(element) | Event::Empty(element)) => {
                if let Some((_, state, _)) = &mut case {
                    match element.name().as_ref() {
                        "failure" | "error" => *state = TestState::Failed,
                        "skipped" => *state = TestState::Skipped,
                        _ => {}
                    }
                }
            }
            Ok(Event::End(element)) if element.name().as_ref() == "testcase" => {
                if let Some((id, state, time)) = case.take() {
                    results.add(id, state, time);
                }
            }
            Ok(Event::Eof) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

fn test_case(element: &BytesStart<'_>) -> (String, TestState, Option<Duration>) {
    let attribute = |name: &str| {
        let attribute = element.try_get_attribute(name).ok().flatten()?;
        attribute.normalized_value(quick_xml::XmlVersion::default()).ok().map(|value| value.into_owned())
    };
    let class = attribute("classname").or_else(|| attribute("file")).unwrap_or_default();
    let name = attribute("name").unwrap_or_default();
    let time = attribute("time").and_then(|seconds| seconds.parse().ok());
    // CTest says in an attribute that a test did not run or failed.
    let state = match attribute("status").as_deref() {
        Some("fail") => TestState::Failed,
        Some("notrun" | "disabled") => TestState::Skipped,
        _ => TestState::Passed,
    };
    (format!("{class}::{name}"), state, time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_test_cases_are_read() {
        let xml = r#"<?xml version="1.0"?><testsuites><testsuite name="s">
            <testcase classname="a.B" name="adds &amp; more" time="0.5"/>
            <testcase classname="a.B" name="fails"><failure message="x">y</failure></testcase>
            <testcase classname="a.B" name="skips"><skipped/></testcase>
            <testcase file="t.js" name="errs"><error/></testcase>
            <testcase classname="c" name="c" status="fail"><system-out/></testcase>
            </testsuite></testsuites>"#;
        let mut results = TestResults::default();
        read_report(xml, &mut results);
        let states: Vec<(&str, TestState)> =
            results.tests.iter().map(|(id, test)| (&**id, test.state)).collect();
        assert_eq!(
            states,
            [
                ("a.B::adds & more", TestState::Passed),
                ("a.B::fails", TestState::Failed),
                ("a.B::skips", TestState::Skipped),
                ("c::c", TestState::Failed),
                ("t.js::errs", TestState::Failed),
            ]
        );
        assert_eq!(results.tests["a.B::adds & more"].time, Some(Duration::from_millis(500)));
    }

    #[test]
    fn broken_reports_give_what_is_before_the_error() {
        let mut results = TestResults::default();
        read_report("<testsuite><testcase name=\"a\"/><testcase name=\"b\"><failure", &mut results);
        assert_eq!(results.tests.keys().collect::<Vec<_>>(), ["::a"]);
        read_report("not XML & <", &mut results);
        read_report("", &mut results);
        assert_eq!(results.tests.len(), 1);
    }
}
