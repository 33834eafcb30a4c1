//! Secrets in answers.

use cases::{EngineName, Finish, Milliseconds, Prediction, Schema, Status, redact_prediction};

#[test]
fn a_secret_that_an_engine_copied_is_not_stored() {
    let word = |text: &str| text.to_owned();
    // Put together here, so that no scanner takes this file for a leak.
    let key = ["AKIA", "Z7Q3W9XK2M5P8R4T"].concat();
    let mut prediction = Prediction {
        schema: Schema::CURRENT,
        case: word("c"),
        engine: EngineName {
            name: word("e"),
            kind: word("builtin"),
            model: word("m"),
            fingerprint: word("f"),
        },
        repetition: 0,
        status: Status::Ok,
        reason: None,
        raw: format!("connect(\"{key}\")\nclose()"),
        text: format!("connect(\"{key}\")"),
        finish: Finish::Stop,
        late: false,
        tokens: None,
        cost: None,
        ms: Milliseconds { gather: 0.0, first: None, total: 0.0 },
        recorded: None,
        spans: Vec::new(),
    };
    redact_prediction(&mut prediction);
    assert_eq!(prediction.text, format!("connect(\"{}\")", "x".repeat(key.len())));
    assert_eq!(prediction.raw, format!("{}\nclose()", prediction.text));
}
