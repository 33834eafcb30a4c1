//! Saved caches open unchanged.

use proptest::prelude::*;

use crate::fixture::{Folder, Owned};

fn owned() -> impl Strategy<Value = Owned> {
    let bytes = |most| prop::collection::vec(any::<u8>(), 0..most);
    (".{0,9}", bytes(40), ".{0,300}", bytes(700)).prop_map(|(path, stamp, text, payload)| Owned {
        path,
        stamp,
        text,
        payload,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn entries_round_trip(files in prop::collection::vec(owned(), 0..20)) {
        let folder = Folder::new();
        folder.save("/project", &files);
        prop_assert_eq!(folder.open("/project").unwrap(), files);
    }
}

#[test]
fn large_cache_is_read_in_several_parts() {
    let folder = Folder::new();
    let text = |number: usize| format!("{number}\n").repeat(number * 1_000);
    let files: Vec<Owned> =
        (0..60).map(|number| Owned::new(&format!("{number}.py"), &text(number))).collect();
    folder.save("/project", &files);
    let opened = folder.cache.open("/project".as_ref(), crate::fixture::FORMAT).unwrap();
    assert!(opened.count() > 5);
    assert_eq!(folder.open("/project").unwrap(), files);
}

#[test]
fn last_save_wins_and_workspaces_are_separate() {
    let folder = Folder::new();
    let [one, two, three] = ["1", "2", "3"].map(|text| vec![Owned::new("a.py", text)]);
    folder.save("/one", &one);
    folder.save("/two", &two);
    folder.save("/one", &three);
    assert_eq!(folder.open("/one").unwrap(), three);
    assert_eq!(folder.open("/two").unwrap(), two);
    assert_eq!(folder.files().len(), 2);
}

#[test]
fn opened_cache_survives_saving_and_clearing() {
    let folder = Folder::new();
    folder.save("/project", &[Owned::new("a.py", "1")]);
    let opened = folder.cache.open("/project".as_ref(), crate::fixture::FORMAT).unwrap();
    folder.save("/project", &[Owned::new("a.py", "2")]);
    folder.cache.clear().unwrap();
    let runs: Vec<_> = opened.map(Result::unwrap).collect();
    assert_eq!(runs[0].entries().unwrap()[0].text, "1");
}

#[test]
fn saving_is_worthwhile_from_five_percent_changed() {
    assert!(!cache::is_worth_saving(0, 0));
    assert!(!cache::is_worth_saving(0, 1_000));
    assert!(!cache::is_worth_saving(49, 1_000));
    assert!(cache::is_worth_saving(50, 1_000));
    assert!(cache::is_worth_saving(10, 0), "files were removed since");
    assert!(cache::is_worth_saving(u64::MAX, u64::MAX));
}
