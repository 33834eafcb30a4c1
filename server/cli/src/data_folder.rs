//! Where the platform keeps Ghostbench's own folder.

use etcetera::BaseStrategy;
use replay::DataFolder;

use crate::exit::Usage;

/// Ghostbench's own folder, where everything goes that the user did not ask for elsewhere.
pub(crate) fn data_folder() -> anyhow::Result<DataFolder> {
    let strategy = etcetera::choose_base_strategy().map_err(|_| {
        Usage("there is no home folder to keep runs in; choose a place with --out".to_owned())
    })?;
    Ok(DataFolder::new(strategy.data_dir().join("ghostbench")))
}
