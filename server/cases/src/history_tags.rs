//! Tags of cases from commits.

/// Tag with the hash of the commit that wrote the truth.
pub const COMMIT_TAG: &str = "commit";
/// Tag with the day of that commit in UTC, as `2025-06-30`.
pub const DATE_TAG: &str = "date";
/// Tag with the number of days from that commit to the newest one of the range.
pub const AGE_TAG: &str = "age_days";
/// Tag with the keyed hash of the author's e-mail address.
pub const AUTHOR_TAG: &str = "author";
