//! Dates without a time of day, as people write the training cut-off of a model.

/// Whether the text is a day or a month: `2025-06-30` or `2025-06`.
pub fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut number = |digits: usize| {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse::<u32>().ok())?
    };
    let is_month = number(4).is_some() && number(2).is_some_and(|month| (1..=12).contains(&month));
    let is_day = text.len() == "2025-06".len() || number(2).is_some_and(|day| (1..=31).contains(&day));
    is_month && is_day && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::is_date;

    #[test]
    fn days_and_months_are_dates() {
        for text in ["2025-06", "2025-06-30", "1999-12-01"] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "",
            "2025",
            "2025-13",
            "2025-00",
            "2025-6",
            "2025-06-",
            "2025-06-32",
            "2025-06-01-01",
            "06-2025",
            "2025-06-+1",
            "２０２５-06",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }
}
