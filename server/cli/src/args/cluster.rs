//! Arguments of work on a Ray cluster.

use std::path::PathBuf;

use cluster::EngineRate;

/// Heading of the options of [`ClusterArgs`].
const CLUSTER: &str = "Cluster";

/// Where requests are made, and answers judged.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ClusterArgs {
    /// Work on the nodes of the Ray cluster at this address, HOST:PORT or ray://HOST:PORT: make the requests of a replay, and judge answers.
    /// --jobs and --judge-jobs are then the numbers per node. Sends the cases, the workspace's files, and the settings with their keys
    /// there. See docs/cluster.md.
    #[arg(long, value_name = "ADDRESS", help_heading = CLUSTER)]
    pub(crate) ray: Option<String>,
    /// Python with the package ghostbench-ray and the cluster's version of Ray [default: GHOSTBENCH_PYTHON, else python3].
    #[arg(long, value_name = "PROGRAM", requires = "ray", help_heading = CLUSTER)]
    pub(crate) python: Option<PathBuf>,
    /// Environment variable to send to the nodes, such as that of an API key; may be given more than once. No other is sent.
    #[arg(long, value_name = "NAME", requires = "ray", help_heading = CLUSTER)]
    pub(crate) ray_env: Vec<String>,
    /// Folder of the workspace whose ignored files the tests need, such as node_modules: sent to the nodes that judge; may be given more
    /// than once.
    #[arg(long, value_name = "DIR", requires = "ray", help_heading = CLUSTER)]
    pub(crate) ray_folder: Vec<PathBuf>,
    /// Send without asking.
    #[arg(long, requires = "ray", help_heading = CLUSTER)]
    pub(crate) yes: bool,
}

/// Limits of requests over all nodes.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct RateArgs {
    /// Maximum requests per minute to an engine from all nodes; may be given more than once.
    #[arg(long, value_name = "ENGINE=N", value_parser = parse_rate, requires = "ray", help_heading = CLUSTER)]
    pub(crate) rate: Vec<(String, f64)>,
    /// Maximum concurrent requests to an engine from all nodes; may be given more than once.
    #[arg(long, value_name = "ENGINE=N", value_parser = parse_concurrency, requires = "ray", help_heading = CLUSTER)]
    pub(crate) concurrency: Vec<(String, u32)>,
}

impl RateArgs {
    /// Returns the limits of each engine.
    pub(crate) fn rates(&self) -> Vec<EngineRate> {
        let mut rates: Vec<EngineRate> = Vec::new();
        for (engine, per_minute) in &self.rate {
            of_engine(&mut rates, engine).per_minute = Some(*per_minute);
        }
        for (engine, concurrent) in &self.concurrency {
            of_engine(&mut rates, engine).concurrent = Some(*concurrent);
        }
        rates
    }
}

fn of_engine<'a>(rates: &'a mut Vec<EngineRate>, engine: &str) -> &'a mut EngineRate {
    let place = rates.iter().position(|rate| rate.engine == engine).unwrap_or_else(|| {
        rates.push(EngineRate { engine: engine.to_owned(), ..EngineRate::default() });
        rates.len() - 1
    });
    &mut rates[place]
}

/// `ghostbench ray-worker`, started on the nodes of a cluster.
#[derive(Debug, clap::Args)]
pub(crate) struct RayWorkerArgs {
    /// The code that engines may read, or that tests judge.
    #[arg(long)]
    pub(crate) workspace: Option<PathBuf>,
    /// File of recorded answers.
    #[arg(long)]
    pub(crate) cassette: Option<PathBuf>,
}

fn parse_rate(word: &str) -> Result<(String, f64), String> {
    let (engine, number) = engine_and_number(word)?;
    let rate: Option<f64> = number.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    Ok((engine, rate.ok_or("requests per minute are a number above 0, as in hosted=600")?))
}

fn parse_concurrency(word: &str) -> Result<(String, u32), String> {
    let (engine, number) = engine_and_number(word)?;
    let most: Option<u32> = number.parse().ok().filter(|most| *most > 0);
    Ok((engine, most.ok_or("concurrent requests are a whole number above 0, as in hosted=32")?))
}

fn engine_and_number(word: &str) -> Result<(String, &str), String> {
    let (engine, number) = word.rsplit_once('=').ok_or("name an engine and a number, as in hosted=600")?;
    Ok((engine.to_owned(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_name_an_engine_and_a_positive_number() {
        assert_eq!(parse_rate("a=b=1.5"), Ok(("a=b".to_owned(), 1.5)));
        assert_eq!(parse_concurrency("hosted=32"), Ok(("hosted".to_owned(), 32)));
        for word in ["hosted", "hosted=", "hosted=0", "hosted=-1", "hosted=inf", "hosted=NaN"] {
            assert!(parse_rate(word).is_err() && parse_concurrency(word).is_err(), "{word}");
        }
    }
}
