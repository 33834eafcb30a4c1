//! Searches of sorted lists for items that are usually near the start.

/// Returns the number of items at the start for which `is_before` holds, as [`slice::partition_point`] does, in a time that grows with the
/// logarithm of this number and not of the length.
pub(crate) fn partition_near_start<T>(items: &[T], is_before: impl Fn(&T) -> bool) -> usize {
    let mut bound = 1;
    while bound <= items.len() && is_before(&items[bound - 1]) {
        bound *= 2;
    }
    let start = bound / 2;
    start + items[start..items.len().min(bound)].partition_point(is_before)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_agrees_with_partition_point(length in 0_usize..40, before in 0_usize..40) {
            let items: Vec<usize> = (0..length).collect();
            let expected = items.partition_point(|&item| item < before);
            prop_assert_eq!(partition_near_start(&items, |&item| item < before), expected);
        }
    }
}
