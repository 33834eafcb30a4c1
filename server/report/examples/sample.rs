//! Writes the report of a made-up run for inspection: `cargo run -p report --example sample -- FOLDER [CASES [ENGINES]]`.
#![expect(clippy::print_stdout, reason = "an example for people at a terminal")]

#[path = "../tests/report/fixture.rs"]
mod fixture;

use std::path::Path;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| ".".to_owned());
    let mined = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(60);
    let engines = arguments.next().and_then(|count| count.parse().ok());
    let fixture = engines.map_or_else(|| with_cross_file(mined), |count| fixture::many_engines(mined, count));
    let report = fixture.report();
    let summary = report.summary();
    std::fs::write(Path::new(&folder).join("report.html"), fixture.html())?;
    std::fs::write(Path::new(&folder).join("report.json"), report::json(&summary))?;
    std::fs::write(Path::new(&folder).join("report.md"), report::markdown(&summary))?;
    for (width, color, unicode) in [(80, false, true), (120, true, true)] {
        let style = report::terminal::Style { color, width, unicode };
        println!("{}", report::terminal::table(&summary, &[], style, &["ghostbench report RUN".to_owned()]));
    }
    Ok(())
}

/// Returns two engines with cases of every scenario.
fn with_cross_file(mined: usize) -> fixture::Fixture {
    let mut fixture = fixture::fixture(mined);
    let cross_file = fixture::cross_file(mined / 2);
    fixture.cases.extend(cross_file.cases);
    fixture.predictions.extend(cross_file.predictions);
    fixture.scores.extend(cross_file.scores);
    fixture
}
