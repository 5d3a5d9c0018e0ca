//! The network of a configuration.

use super::{Config, Entries, entry, last_name, number, text};
use crate::neko::properties::Entry;
use crate::tree::{Data, Key, Tree, shortened};
use swarmyard_base::{Diagnostic, Span};

/// Neko's simulated networks and ours.
const NETWORKS: [(&str, &str); 5] = [
    ("RandomNetwork", "random"),
    ("MetricNetwork", "metric"),
    ("ReliableNetwork", "reliable"),
    ("BasicNetwork", "reliable"),
    ("SimNetwork", "reliable"),
];

impl Config<'_> {
    /// The section of the network, if there is one.
    pub(super) fn network(&mut self, algorithm: Option<(&str, Span)>) -> Option<(Key, Tree)> {
        let class = match self.single.get("network").copied() {
            Some(entry) => Some((self.network_class(entry)?, entry.key_span, entry.value.span)),
            None => None,
        };
        self.idle_network_keys(class.map(|c| c.0));
        let Some((class, key, place)) = class else {
            let (class, span) = algorithm?;
            if !["ask-for-help", "path-reservation"].contains(&class) {
                return None;
            }
            let what = format!("`{class}` sends messages, and there is no key `network`: taken as reliable");
            let d = Diagnostic::warning("assumed", what).at(Some(span));
            self.problems.push(d.help("write `network = lse.neko.networks.sim.RandomNetwork`, for instance"));
            return Some(entry("network", span, Data::Table(vec![entry("class", span, text("reliable"))])));
        };
        let mut inner = vec![entry("class", place, text(class))];
        match class {
            "random" => inner.extend(self.random_network(key)?),
            "metric" => inner.extend(self.metric_network(key)?),
            _ => {}
        }
        Some(entry("network", key, Data::Table(inner)))
    }

    fn network_class(&mut self, entry: &Entry<'_>) -> Option<&'static str> {
        let name = entry.value.text.as_str();
        let last = name.strip_prefix("lse.neko.networks.sim.").unwrap_or(name);
        let known = NETWORKS.iter().find(|n| n.0 == last);
        if known.is_none() {
            let what = format!("there is no simulated network `{}`", shortened(name));
            let d = Diagnostic::error("unknown-class", what).at(Some(entry.value.span));
            self.problems.push(d.suggest(last_name(name), NETWORKS.iter().map(|n| n.0)));
        }
        known.map(|n| n.1)
    }

    fn random_network(&mut self, network: Span) -> Option<Entries> {
        let seed = self.single.get("RandomNetwork.seed").copied();
        let seed = seed.map(|entry| (entry, entry.value.text.parse::<i64>().ok().filter(|n| *n >= 0)));
        if let Some((entry, None)) = seed {
            self.wrong(entry, "a whole number from 0", "it is the seed of the random delays");
        }
        let mean = self.mean_delay(network)?;
        let mut inner = vec![(Key { text: "mean".into(), span: mean.span }, mean)];
        if let Some((seed, Some(n))) = seed {
            inner.push(entry("seed", seed.value.span, Data::Int(n)));
        }
        Some(inner)
    }

    /// λ of a random network, by either of its keys.
    fn mean_delay(&mut self, network: Span) -> Option<Tree> {
        let about = "the mean delay of a message in seconds: with `10` the mean is ten seconds";
        let both = ["RandomNetwork.lambda", "network.lambda"].map(|key| self.single.get(key).copied());
        match both {
            [Some(own), Some(general)] if own.value.text != general.value.text => {
                let said = shortened(&general.value.text);
                let what = format!("`{}` and `{}` contradict each other: `{said}`", own.key, general.key);
                self.error("contradiction", what, general.value.span);
                None
            }
            [Some(own), _] => self.positive(own.key, about),
            [None, Some(general)] => self.positive(general.key, about),
            [None, None] => {
                let what = "`RandomNetwork` needs the key `RandomNetwork.lambda`";
                let d = Diagnostic::error("missing-key", what).at(Some(network));
                self.problems.push(d.help(format!("it is {about}; the thesis has 10")));
                None
            }
        }
    }

    fn metric_network(&mut self, network: Span) -> Option<Entries> {
        let about = "what a message costs its sender and its receiver, in seconds; on the network it costs 1";
        let (multicast, place) = self.truth("network.multicast").unwrap_or((false, network));
        let Some(lambda) = self.single.get("network.lambda").copied() else {
            let d = Diagnostic::error("missing-key", "`MetricNetwork` needs the key `network.lambda`");
            self.problems.push(d.at(Some(network)).help(format!("it is {about}")));
            return None;
        };
        let Some((data, _)) = number(&lambda.value.text).filter(|x| x.1 >= 0.0) else {
            self.wrong(lambda, "a number from 0", &format!("it is {about}"));
            return None;
        };
        Some(vec![entry("lambda", lambda.value.span, data), entry("multicast", place, Data::Bool(multicast))])
    }

    /// Keys of other networks than the one there is.
    fn idle_network_keys(&mut self, class: Option<&str>) {
        let needed: &[&str] = match class {
            Some("random") => &["RandomNetwork.lambda", "network.lambda", "RandomNetwork.seed"],
            Some("metric") => &["network.lambda", "network.multicast"],
            _ => &[],
        };
        for key in ["RandomNetwork.lambda", "RandomNetwork.seed", "network.lambda", "network.multicast"] {
            if let Some(entry) = self.single.get(key).filter(|_| !needed.contains(&key)) {
                let what = format!("`{key}` changes nothing: this network has no such setting");
                self.no_effect(what, entry);
            }
        }
    }
}
