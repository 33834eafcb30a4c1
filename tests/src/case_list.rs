//! Scrolls the list of cases of a report in a browser.

use serde_json::Value;

use crate::Browser;

/// Pixels by which the list scrolls in each frame.
#[derive(Clone, Copy, Debug)]
pub enum ScrollStep {
    /// A step of a wheel.
    Wheel,
    /// A leap, with which the frames go through the whole list.
    Leap,
}

/// The frames of a scrolled list.
#[derive(Debug)]
pub struct ScrolledFrames {
    /// Milliseconds between the frames.
    pub times: Vec<f64>,
    /// Largest number of rows at a time.
    pub rows: u64,
    /// Largest number of rows that a frame adds.
    pub added: u64,
    /// Largest number of attributes that a frame changes.
    pub changed: u64,
}

/// Scrolls the list by a step in each of 120 frames, from its start.
///
/// # Panics
///
/// If the page has no list of cases.
pub fn scroll_cases(browser: &mut Browser, step: ScrollStep) -> ScrolledFrames {
    let pixels = match step {
        ScrollStep::Wheel => "92",
        ScrollStep::Leap => "(list.scrollHeight - list.clientHeight) / 120",
    };
    let scrolled = browser.evaluate(&script(pixels));
    let count = |part: usize| scrolled[part].as_u64().expect("a count");
    let times = scrolled[0].as_array().expect("times").iter().filter_map(Value::as_f64).collect();
    ScrolledFrames { times, rows: count(1), added: count(2), changed: count(3) }
}

fn script(pixels: &str) -> String {
    format!(
        "new Promise((resolve) => {{
  const list = document.getElementById('case-list');
  const pixels = {pixels};
  const work = {{ added: 0, changed: 0 }};
  const observer = new MutationObserver((records) => {{
    for (const record of records) {{
      work.added += [...record.addedNodes].filter((node) => node.role === 'option').length;
      work.changed += record.type === 'attributes' ? 1 : 0;
    }}
  }});
  observer.observe(list, {{ subtree: true, childList: true, attributes: true }});
  const times = [];
  let [step, last, rows, added, changed] = [0, 0, 0, 0, 0];
  list.scrollTop = 0;
  const frame = (now) => {{
    if (step > 1) times.push(now - last);
    last = now;
    rows = Math.max(rows, list.querySelectorAll('[role=option]').length);
    // The first frame draws the start of the list.
    if (step > 1) [added, changed] = [Math.max(added, work.added), Math.max(changed, work.changed)];
    [work.added, work.changed] = [0, 0];
    if (step === 120) return resolve([times, rows, added, changed]);
    step += 1;
    list.scrollTop += pixels;
    requestAnimationFrame(frame);
  }};
  requestAnimationFrame(frame);
}})"
    )
}
