//! How a member of the mesh is configured: our defaults instead of Zenoh's, which listens to the whole network.
//!
//! In: [`Options`]. Out: Zenoh's configuration. Members are found by the addresses that are given, and in no other way:
//! multicast scouting and gossip are always off.

use crate::access::{Access, Role, Verb};
use crate::keys::Keys;
use crate::{Lost, MOST_BYTES};
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use zenoh::Config;

/// How a member of the mesh listens, whom it knows, and whom it trusts.
#[derive(Clone, Debug)]
pub struct Options {
    /// Addresses to listen on, `HOST:PORT`. Port 0 is any free one. Others than the loopback interface need keys.
    pub listen: Vec<String>,
    /// The host or address others reach this member at, where that is another than the first it listens on. A member that
    /// listens on all its addresses and says nothing here gets what workers send it over Zenoh only.
    pub advertise: Option<String>,
    /// Members to connect to, `HOST:PORT`. Messages are not passed on, so a new member connects to all before it.
    pub connect: Vec<String>,
    /// A member that says nothing for so long, or takes nothing, is gone.
    pub lease: Duration,
    /// How long opening waits for the members to connect to.
    pub reach: Duration,
    /// Who this member is; with it all traffic is encrypted, and both sides must show a certificate of the same authority.
    pub keys: Option<Keys>,
    /// Who may do what; needs keys.
    pub access: Option<Access>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            listen: vec!["127.0.0.1:0".into()],
            advertise: None,
            connect: Vec::new(),
            lease: Duration::from_secs(1),
            reach: Duration::from_secs(5),
            keys: None,
            access: None,
        }
    }
}

impl Options {
    /// Refuses what would let anybody in.
    pub(super) fn check(&self) -> Result<(), Lost> {
        let bad = |what: String, why: &str| Err(Lost::Failed { what, why: why.into() });
        if self.keys.is_some() {
            return Ok(());
        }
        if self.access.is_some() {
            return bad("use an access file".into(), "without keys nobody knows who a member is");
        }
        match self.listen.iter().find(|a| !is_loopback(a)) {
            Some(open) => bad(
                format!("listen on `{open}`"),
                "without keys anybody could join: make some with `swarmyard keys`",
            ),
            None => Ok(()),
        }
    }

    /// The configuration, for listening on these addresses.
    pub(super) fn config(&self, listen: &[String]) -> Result<Config, Lost> {
        let scheme = if self.keys.is_some() { "tls" } else { "tcp" };
        let at = |all: &[String]| json!(all.iter().map(|a| format!("{scheme}/{a}")).collect::<Vec<_>>());
        let millis = |d: Duration| json!(u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
        let mut settings = vec![
            ("mode", json!("peer")),
            ("listen/endpoints", at(listen)),
            ("listen/exit_on_failure", json!(true)),
            ("connect/endpoints", at(&self.connect)),
            ("connect/timeout_ms", millis(self.reach)),
            ("connect/exit_on_failure", json!(true)),
            (
                "connect/retry",
                json!({"period_init_ms": 50, "period_max_ms": 200, "period_increase_factor": 2}),
            ),
            ("scouting/multicast/enabled", json!(false)),
            ("scouting/gossip/enabled", json!(false)),
            ("adminspace/enabled", json!(false)),
            ("transport/link/protocols", json!([scheme])),
            ("transport/link/tx/lease", millis(self.lease)),
            // Who connects and says nothing holds one of a hundred places for no longer than a member is waited for.
            ("transport/unicast/accept_timeout", millis(self.reach)),
            // Not longer than the lease: while a put waits for a member that hangs, Zenoh does not notice that its lease
            // has ended, and members that have nothing to do with it wait as well.
            (
                "transport/link/tx/queue/congestion_control/block/wait_before_close",
                json!(i64::try_from(self.lease.as_micros()).unwrap_or(i64::MAX)),
            ),
            // A little more than a message of ours, for its key.
            ("transport/link/rx/max_message_size", json!(MOST_BYTES + (1 << 16))),
            ("transport/shared_memory/enabled", json!(false)),
        ];
        if let Some(keys) = &self.keys {
            settings.push(("transport/link/tls", tls(keys)));
        }
        if let Some(access) = &self.access {
            settings.push(("access_control", rules(access)));
        }
        let mut config = Config::default();
        for (key, value) in settings {
            let inserted = config.insert_json5(key, &value.to_string());
            inserted.map_err(|e| Lost::Failed { what: format!("set `{key}`"), why: e.to_string() })?;
        }
        Ok(config)
    }
}

/// Whether an address is one that only this machine reaches.
fn is_loopback(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |a| a.0).trim_matches(['[', ']']);
    let is_local = |ip: IpAddr| ip.is_loopback();
    address.parse::<SocketAddr>().is_ok_and(|a| is_local(a.ip()))
        || host.parse::<IpAddr>().is_ok_and(is_local)
        || host == "localhost"
}

/// Both sides show a certificate, and that of a member connected to must be for the address it was reached at.
fn tls(keys: &Keys) -> Value {
    json!({
        "root_ca_certificate": keys.authority,
        "listen_certificate": keys.certificate,
        "listen_private_key": keys.key,
        "connect_certificate": keys.certificate,
        "connect_private_key": keys.key,
        "enable_mtls": true,
        "verify_name_on_connect": true,
        "close_link_on_expiration": true,
    })
}

/// The access file in Zenoh's words: a rule for each role and verb, and a policy for each member.
fn rules(access: &Access) -> Value {
    let mut rules = Vec::new();
    let mut of_role = |role: Role| -> Vec<String> {
        let mut ids = Vec::new();
        for verb in Verb::ALL.into_iter().filter(|v| !role.may(*v).is_empty()) {
            for (flow, messages) in meant(verb) {
                let id = format!("{} {verb:?} {flow}", role.word());
                rules.push(json!({
                    "id": id, "permission": "allow", "flows": [flow],
                    "messages": messages, "key_exprs": role.may(verb),
                }));
                ids.push(id);
            }
        }
        ids
    };
    let ids = Role::ALL.map(|role| (role, of_role(role)));
    let mut subjects = Vec::new();
    let mut policies = Vec::new();
    for (name, roles) in access.members().iter().filter(|m| !m.1.is_empty()) {
        subjects.push(json!({"id": name, "cert_common_names": [name]}));
        let all: Vec<&String> = ids.iter().filter(|i| roles.contains(&i.0)).flat_map(|i| &i.1).collect();
        policies.push(json!({"rules": all, "subjects": [name]}));
    }
    json!({
        "enabled": true, "default_permission": "deny",
        "rules": rules, "subjects": subjects, "policies": policies,
    })
}

/// What must pass from a member (ingress) and to it (egress) so that it can do this.
fn meant(verb: Verb) -> Vec<(&'static str, Vec<&'static str>)> {
    match verb {
        Verb::Put => vec![("ingress", vec!["put"]), ("egress", vec!["declare_subscriber"])],
        Verb::Hear => vec![("ingress", vec!["declare_subscriber"]), ("egress", vec!["put"])],
        Verb::Ask => vec![("ingress", vec!["query"]), ("egress", vec!["declare_queryable", "reply"])],
        Verb::Answer => vec![("ingress", vec!["declare_queryable", "reply"]), ("egress", vec!["query"])],
        Verb::Live => vec![
            ("ingress", vec!["liveliness_token"]),
            ("egress", vec!["declare_liveliness_subscriber", "liveliness_query"]),
        ],
        Verb::Watch => vec![
            ("ingress", vec!["declare_liveliness_subscriber", "liveliness_query"]),
            ("egress", vec!["liveliness_token"]),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_loopback_interface_may_be_open_to_all() {
        for (address, is_open) in [
            ("127.0.0.1:0", true),
            ("[::1]:7000", true),
            ("localhost:7", true),
            ("0.0.0.0:7447", false),
            ("[::]:0", false),
            ("10.0.0.1:1", false),
            ("host.example:1", false),
        ] {
            let options = Options { listen: vec![address.into()], ..Options::default() };
            assert_eq!(options.check().is_ok(), is_open, "{address}");
        }
        let options = Options { access: Some(Access::default()), ..Options::default() };
        assert!(options.check().is_err());
    }
}
