//! How this process joins others: what the commands of many machines share.

use crate::cli::fail::{Exit, Failure};
use crate::cli::out::Out;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use swarmyard_agents::{Elsewhere, Prices};
use swarmyard_cluster::host::Identity;
use swarmyard_cluster::staff::{Connect, Launch};
use swarmyard_fabric::access::Access;
use swarmyard_fabric::keys::Keys;
use swarmyard_fabric::mesh::{Mesh, Options, on_refusal};
use swarmyard_fabric::{Fabric, Lost};

/// How a process listens, who it is, and whom it trusts.
#[derive(Args, Clone, Debug)]
pub(crate) struct FabricArgs {
    /// Where others reach this process; another address than this machine's own needs --keys
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,
    /// Folder with certificates, as `swarmyard keys` makes them
    #[arg(long, value_name = "DIR")]
    pub(crate) keys: Option<PathBuf>,
    /// Whose certificate in that folder is ours
    #[arg(long, value_name = "NAME", requires = "keys")]
    pub(crate) name: Option<String>,
    /// Who may do what, by the names in their certificates
    #[arg(long, value_name = "FILE", requires = "keys")]
    pub(crate) access: Option<PathBuf>,
    /// Seconds of silence after which a member is lost
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds)]
    pub(crate) lease: f64,
}

fn seconds(text: &str) -> Result<f64, String> {
    let wrong = || "write a number of seconds from 0.05 to 600".to_owned();
    text.parse().ok().filter(|x| (0.05..=600.0).contains(x)).ok_or_else(wrong)
}

impl FabricArgs {
    pub(crate) fn lease(&self) -> Duration {
        Duration::from_secs_f64(self.lease)
    }

    /// The address without its port.
    fn host(&self) -> &str {
        self.listen.rsplit_once(':').map_or(self.listen.as_str(), |(host, _)| host)
    }

    /// How this process joins; `name` is its own where no other is given.
    pub(crate) fn options(&self, name: &str, connect: &[String]) -> Result<Options, Failure> {
        let wrong = |e: String| Failure::new(Exit::Failed, "keys", e);
        if self.keys.is_some() && ["0.0.0.0", "[::]"].contains(&self.host()) {
            let what =
                format!("others are told where we are reached, and nobody is reached at `{}`", self.listen);
            return Err(Failure::new(Exit::Usage, "listen", what).help("name the address of this machine"));
        }
        let name = self.name.as_deref().unwrap_or(name);
        let keys = self.keys.as_ref().map(|dir| Keys::of(dir, name)).transpose();
        let access = self.access.as_ref().map(|file| Access::load(file)).transpose();
        Ok(Options {
            listen: vec![self.listen.clone()],
            connect: connect.to_vec(),
            lease: self.lease(),
            keys: keys.map_err(|e| wrong(e.to_string()))?,
            access: access.map_err(|e| wrong(e.to_string()))?,
            ..Options::default()
        })
    }

    /// Joins the members at these addresses, and says whom it does not let in.
    pub(crate) fn open(&self, name: &str, connect: &[String], out: &Out) -> Result<Mesh, Failure> {
        let (out, who) = (*out, name.to_owned());
        on_refusal(Box::new(move |text| out.say(&format!("{who}: {text}"))));
        Mesh::open(&self.options(name, connect)?).map_err(|e| lost(name, &e))
    }

    /// How workers are started from this program, next to this process.
    pub(crate) fn launch(&self, name: &str) -> Result<Launch, Failure> {
        let program = std::env::current_exe().map_err(|e| {
            Failure::new(Exit::Failed, "system", format!("this program cannot find itself: {e}"))
        })?;
        let name = self.name.as_deref().unwrap_or(name);
        Ok(Launch {
            program,
            listen: format!("{}:0", self.host()),
            keys: self.keys.as_ref().map(|dir| (dir.clone(), name.to_owned())),
            access: self.access.clone(),
            allowed: None,
            hold: None,
            idle: false,
        })
    }

    /// How programs on these hosts are started: by a process of this program that stands for each.
    pub(crate) fn elsewhere(&self, name: &str, hosts: &[String]) -> Result<Option<Elsewhere>, Failure> {
        if hosts.is_empty() {
            return Ok(None);
        }
        let Launch { program, listen, keys, access, .. } = self.launch(name)?;
        let lease = self.lease.to_string();
        let mut words: Vec<String> =
            ["pipe", "--bytes", "--listen", &listen, "--lease", &lease].map(str::to_owned).to_vec();
        for host in hosts {
            words.extend(["--hosts".to_owned(), host.clone()]);
        }
        // A robot's program works in the folder of its world.
        let whole = |path: PathBuf| std::path::absolute(&path).unwrap_or(path).display().to_string();
        if let Some((folder, name)) = keys {
            words.extend(["--keys".to_owned(), whole(folder), "--name".to_owned(), name]);
        }
        if let Some(file) = access {
            words.extend(["--access".to_owned(), whole(file)]);
        }
        Ok(Some(Elsewhere { program, words, prices: Prices::default() }))
    }

    /// How to connect with one host after another: each has a connection of its own, so that one that is gone
    /// disturbs nobody.
    pub(crate) fn connect(&self, name: &str) -> Result<Connect, Failure> {
        let options = Options { reach: Duration::from_secs(3), ..self.options(name, &[])? };
        // Nobody needs to come to us on these.
        let listen = vec![format!("{}:0", self.host())];
        Ok(Arc::new(move |endpoint: &str| {
            let connect = vec![endpoint.to_owned()];
            let options = Options { connect, listen: listen.clone(), ..options.clone() };
            let mesh = Mesh::open(&options).map_err(|_| "nobody there lets us in".to_owned())?;
            Ok(Arc::new(mesh) as Arc<dyn Fabric>)
        }))
    }
}

/// A fabric that did not do what was asked.
pub(crate) fn lost(name: &str, e: &Lost) -> Failure {
    Failure::new(Exit::Failed, "fabric", format!("{name}: {e}"))
}

/// What this build computes with.
pub(crate) fn identity() -> Result<Identity, Failure> {
    let numerics = crate::cli::doctor::self_test()?;
    Ok(Identity { version: env!("CARGO_PKG_VERSION").to_owned(), numerics })
}
