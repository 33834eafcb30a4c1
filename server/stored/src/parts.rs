//! Divides items into parts of bounded size.

/// Divides `items`, in their order, into parts of at most `max_bytes`; an item that is larger has a part of its own.
pub fn parts<T>(items: &[T], max_bytes: u64, bytes_of: impl Fn(&T) -> u64) -> impl Iterator<Item = &[T]> {
    let mut rest = items;
    std::iter::from_fn(move || {
        let mut bytes: u64 = 0;
        let is_beyond = |item: &T| {
            bytes = bytes.saturating_add(bytes_of(item));
            bytes > max_bytes
        };
        let length = rest.iter().position(is_beyond).unwrap_or(rest.len()).max(1);
        let (part, after) = rest.split_at_checked(length)?;
        rest = after;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_large_as_allowed_and_complete() {
        let divided =
            |items: &[u64]| parts(items, 10, |&bytes| bytes).map(<[u64]>::to_vec).collect::<Vec<_>>();
        assert_eq!(
            divided(&[4, 6, 1, 20, 0, u64::MAX, 3]),
            [vec![4, 6], vec![1], vec![20], vec![0], vec![u64::MAX], vec![3]]
        );
        assert_eq!(divided(&[]), Vec::<Vec<u64>>::new());
    }
}
