//! Algorithms outside of the simulator: what they ask of protocols, sensors and motion modules and are told by them, in
//! the sandbox and in processes alike; and contacts.

use crate::outside::{Folder, GREET, lines_of, said};
use crate::push::{Sniffer, Squares};
use std::path::Path;
use std::sync::Arc;
use swarmyard_agents::Workshop;
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Microprotocol, PortSpec, Private, ProtocolModel, Request,
    ServiceKind, Sheet, User,
};
use swarmyard_sim::{Options, Sim, registry_with};

/// A protocol of one's own: tells its user what it asked, backwards.
struct Mirror;

impl Microprotocol for Mirror {
    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Custom(Private(bytes)) = request else { return };
        cx.indicate(user, Indication::Custom(bytes.iter().rev().copied().collect()));
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

impl ProtocolModel for Mirror {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Custom)
    }

    fn ports(&self) -> Vec<PortSpec> {
        Vec::new()
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Mirror)
    }
}

/// Every service, as keys of an algorithm.
const ALL: &str = "consensus = \"paxos\"\ndetector = \"heart\"\nleader = \"election\"\nmutex = \"alone\"\nmembership = \"group\"\nclock = \"time\"\ncustom = \"mirror\"";

/// A protocol of each kind: its name, and the rest of it.
const EVERY: &[(&str, &str)] = &[
    ("heart", "class = \"heartbeat\"\nperiod = \"500ms\"\ntimeout = \"2s\""),
    ("election", "class = \"leader-election\"\ndetector = \"heart\""),
    ("paxos", "class = \"paxos\"\nleader = \"election\""),
    ("alone", "class = \"ricart-agrawala\""),
    ("spread", "class = \"reliable-broadcast\""),
    ("group", "class = \"membership\"\nconsensus = \"paxos\"\nbroadcast = \"spread\"\ndetector = \"heart\""),
    ("time", "class = \"clock-sync\"\noffset = 0\ndrift = 0\ndelay_min = \"10ms\"\ndelay_max = \"10ms\""),
    ("mirror", "class = \"mirror\""),
];

/// What robots are made of beside their algorithm, and what else there is in a world.
struct World<'a> {
    protocols: &'a [(&'a str, &'a str)],
    /// Keys of the algorithm.
    keys: &'a str,
    more: &'a str,
}

/// Nothing but bodies.
const BARE: World<'_> = World { protocols: &[], keys: "", more: "" };
/// Every service.
const FULL: World<'_> = World { protocols: EVERY, keys: ALL, more: "" };

/// Robots `a`, `b` and `c` of one type, ten metres from each other, with a sensor and a motion module of one's own and an
/// algorithm.
fn world(folder: &Folder, algorithm: &str, world: &World<'_>) -> Result<Sim, String> {
    let mut registry = registry_with(&Arc::new(Workshop::in_folder(&folder.0)));
    let sheet = |name, kind| Sheet::new(name, kind, "For these tests.").level("every", "Everything.");
    registry.add(Class::new(sheet("sniffer", Kind::Sensor), |_, _| Ok(Built::Senses(Arc::new(Sniffer)))));
    registry.add(Class::new(sheet("squares", Kind::Actuator), |_, _| Ok(Built::Motions(Arc::new(Squares)))));
    registry.add(Class::new(sheet("mirror", Kind::Protocol), |_, _| Ok(Built::Protocol(Arc::new(Mirror)))));
    let mut text = "format = 1\n[run]\nquantum = \"1s\"\nduration = \"20s\"\n[network]\nclass = \"constant\"\ndelay = \"10ms\"\n[type.t]\nradius = 0.5\n".to_owned();
    for (name, class) in
        [("wheels", "wheels"), ("legs", "squares"), ("nose", "sniffer"), ("eye", "proximity"), ("gps", "gps")]
    {
        text += &format!("[[type.t.part]]\nname = \"{name}\"\nclass = \"{class}\"\n");
    }
    for (name, keys) in world.protocols {
        text += &format!("[[type.t.protocol]]\nname = \"{name}\"\n{keys}\n");
    }
    text += &format!("[type.t.algorithm]\n{algorithm}\n{}\n{}\n", world.keys, world.more);
    for (name, x) in [("a", 0), ("b", 10), ("c", 20)] {
        text += &format!("[[robot]]\nname = \"{name}\"\ntype = \"t\"\nat = [{x}, 0]\n");
    }
    Sim::read("s", &text, &NoFiles, &registry, &Options::default()).map_err(|e| e.to_string())
}

const PROCESS: &str = "class = \"process\"\nsource = \"robot.sh\"\npatience = 0";

fn in_c(name: &str, code: &str, with: &World<'_>) -> Sim {
    let folder = Folder::with(name, "");
    let algorithm = format!("class = \"program\"\ncode = '''\n#include \"swarm.h\"\n{code}\n'''");
    world(&folder, &algorithm, with).unwrap_or_else(|e| panic!("{e}"))
}

/// A program in Python, in a folder that has to live as long as the run.
fn in_python(name: &str, code: &str, with: &World<'_>) -> (Sim, Folder) {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/python");
    let head = format!(
        "#!/usr/bin/env python3\nimport sys\nsys.path.insert(0, {:?})\nsys.dont_write_bytecode = True\nfrom swarm import *\nfrom swarm import robot\n",
        sdk.display().to_string()
    );
    let folder = Folder::with(name, &format!("{head}{code}"));
    let sim = world(&folder, PROCESS, with).unwrap_or_else(|e| panic!("{e}"));
    (sim, folder)
}

/// The same, one that says every line it is told after its first calls.
fn in_lines(name: &str, calls: &str, with: &World<'_>) -> (Sim, Folder) {
    let script =
        format!("{GREET}{calls}\necho .\nwhile read now && read what; do echo say $what; echo .; done\n");
    let folder = Folder::with(name, &script);
    let sim = world(&folder, PROCESS, with).unwrap_or_else(|e| panic!("{e}"));
    (sim, folder)
}

/// Helpers of programs in C: says a word and a number, or a word and the message at hand.
const SAY: &str = r#"
static char line[100]; static int end;
static void put(const char *text) { while (*text) line[end++] = *text++; line[end] = 0; }
static void number(int n) { char d[2] = {(char)('0' + n), 0}; put(n < 0 ? "-" : n < 10 ? d : "many"); }
static void say(const char *word, int n) { end = 0; put(word); put(" "); number(n); swarm_say(line); }
static void quote(const char *word) {
    static char text[40]; int n = swarm_message(text, 39); text[n < 39 ? n : 39] = 0;
    end = 0; put(word); put(" "); put(text); swarm_say(line);
}
"#;

/// Robot `c`, which has the highest number, leads; it crashes after 6 s and comes back after 12 s.
const FAULTS: &str = "[[fault]]\nat = \"6s\"\ncrash = [\"c\"]\n[[fault]]\nat = \"12s\"\nrecover = [\"c\"]";

#[test]
#[expect(clippy::too_many_lines, reason = "the same program twice, in C and in Python")]
fn a_program_and_a_process_are_told_the_same_by_every_service() {
    let c = r#"
    void robot_event(int kind, int a, double x, double y) {
        static double who[4];
        if (kind == SWARM_START) {
            int asked = swarm_enter() + swarm_clock() + swarm_clock_at(1.5) + swarm_monitor() + swarm_elect();
            if (swarm_me() == 0) asked += swarm_propose(7, "yes", 3) + swarm_cast("hello", 5) + swarm_private("abc", 3);
            if (swarm_me() == 1) asked += swarm_join() + swarm_exclude(9);
            if (asked != (swarm_me() == 0 ? 8 : swarm_me() == 1 ? 7 : 5)) swarm_say("not asked");
        }
        if (kind == SWARM_DECIDED) { say(y == 7 && x == 3 ? "decided" : "wrong", a); quote("value"); }
        if (kind == SWARM_SUSPECTED) say(swarm_other() == a ? "suspected" : "wrong", a);
        if (kind == SWARM_TRUSTED) say("trusted", a);
        if (kind == SWARM_LEADS) say("leads", a);
        if (kind == SWARM_ENTERED) { swarm_say("entered"); swarm_timer(0.5); }
        if (kind == SWARM_TIMER) { swarm_say("leaves"); swarm_leave(); }
        if (kind == SWARM_VIEW) {
            say("view", a); int n = swarm_numbers(who, 4);
            if (n != x) swarm_say("wrong");
            for (int k = 0; k < n; k++) say("member", (int)who[k]);
        }
        if (kind == SWARM_CAST) { say("cast", a); quote("data"); }
        if (kind == SWARM_CLOCK) { say("clock", (int)(10 * x)); say(y >= 0 && y < 1 ? "sure" : "unsure", 0); }
        if (kind == SWARM_CUSTOM) quote("custom");
    }"#;
    let python = r#"
names = {Decided: "decided", Suspected: "suspected", Trusted: "trusted", Leads: "leads"}
robot.enter(); robot.clock(); robot.clock_at(1.5); robot.monitor(); robot.elect()
if robot.me == 0:
    robot.propose(7, b"yes"); robot.cast(b"hello"); robot.private(b"abc")
if robot.me == 1:
    robot.join(); robot.exclude(9)
digit = lambda n: str(n) if n < 10 else "many"
while True:
    event = robot.next_event()
    if type(event) in names:
        robot.say(names[type(event)] + " " + digit(event[0]))
    if isinstance(event, Decided):
        robot.say("value " + event.value.decode())
    if isinstance(event, Entered):
        robot.say("entered"); robot.timer(0.5)
    if isinstance(event, Timer):
        robot.say("leaves"); robot.leave()
    if isinstance(event, View):
        robot.say("view " + digit(event.number))
        for member in event.members:
            robot.say("member " + digit(member))
    if isinstance(event, Cast):
        robot.say("cast " + digit(event.sender)); robot.say("data " + event.data.decode())
    if isinstance(event, Clock):
        robot.say("clock " + digit(int(10 * event.reading)))
        robot.say("sure 0" if event.error is not None and event.error < 1 else "unsure 0")
    if isinstance(event, Custom):
        robot.say("custom " + event.data.decode())
"#;
    let with = World { more: FAULTS, ..FULL };
    let from_c = said(&mut in_c("services-c", &format!("{SAY}{c}"), &with));
    let lines = lines_of(&from_c, 0);
    for line in [
        "custom cba",
        "view 0",
        "member 2",
        "cast 0",
        "data hello",
        "entered",
        "leaves",
        "leads 2",
        "decided 7",
        "value yes",
        "clock 0",
        "clock many",
        "suspected 2",
        "leads 1",
        "view 1",
        "trusted 2",
    ] {
        assert!(lines.contains(&line), "no `{line}` in {lines:?}");
    }
    assert_eq!(lines.iter().filter(|l| **l == "entered").count(), 1);
    let entered: Vec<u32> = from_c.iter().filter(|s| s.1 == "entered").map(|s| s.0).collect();
    assert!(entered.starts_with(&[0, 1, 2]), "one after the other: {entered:?}");
    let (mut sim, _folder) = in_python("services", python, &with);
    let from_python = said(&mut sim);
    for robot in 0..3 {
        assert_eq!(lines_of(&from_python, robot), lines_of(&from_c, robot), "robot {robot}");
    }
}

#[test]
fn lines_tell_of_every_service_as_the_document_says() {
    let calls = "echo enter; echo clock_at 0.5; echo propose 18446744073709551615 2d; echo cast 00ff; echo private -; echo persist 6b; echo persisted; read kept; echo say $kept";
    let (mut sim, _folder) = in_lines("lines", calls, &FULL);
    let told = said(&mut sim);
    let lines = lines_of(&told, 0);
    for line in [
        "bytes 6b",
        "custom -",
        "view 0 3 0 1 2",
        "entered",
        "leads 2",
        "cast 1 00ff",
        "decided 18446744073709551615 2d",
        "clock 0.",
    ] {
        assert!(lines.iter().any(|l| l.starts_with(line)), "no `{line}` in {lines:?}");
    }
}

#[test]
fn who_names_no_protocol_is_told_nothing_of_it_and_asking_says_so() {
    let code = "void robot_event(int kind, int a, double x, double y) { (void)a; (void)x; (void)y;
        if (kind == SWARM_START) { if (swarm_elect() + swarm_clock() == 0) swarm_say(\"nobody asked\"); }
        else swarm_say(\"told\"); }";
    let told = said(&mut in_c("nobody", code, &World { keys: "", ..FULL }));
    let lines = lines_of(&told, 0);
    assert!(lines[0].contains("no leader") && lines[1].contains("no clock"), "{lines:?}");
    assert_eq!(lines[2..], ["nobody asked"]);
    // A name that does not fit is found when the world is loaded.
    let folder = Folder::with("misfit", "");
    for (keys, code) in [("leader = \"heart\"", "wrong-service"), ("leader = \"elction\"", "unknown-part")] {
        let algorithm =
            "class = \"program\"\ncode = 'void robot_event(int k, int a, double x, double y) { }'";
        let error = world(&folder, algorithm, &World { keys, ..FULL }).err().unwrap_or_default();
        assert!(error.contains(code) && error.contains("election"), "{error}");
    }
}

#[test]
fn patterns_and_sensors_of_ones_own_are_for_programs_outside_too() {
    let c = r#"
    void robot_event(int kind, int a, double x, double y) {
        static double d[4]; static const double square[2] = {2, 1}, there[1] = {1.4}, arg[1] = {3};
        (void)y;
        if (swarm_me() != 0) return;
        if (kind == SWARM_START) {
            if (swarm_sense("nose", arg, 1, d, 4) == 2) { say("nose", (int)d[0]); say("robots", (int)d[1]); }
            say("ear", swarm_sense("ear", arg, 1, d, 4));
            say("watch", swarm_watch_own("nose", 0.5, there, 1));
            say("motion", swarm_pattern("square", square, 2));
        }
        if (kind == SWARM_PUSHED) { say("pushed", (int)(x * 2 + 0.5)); say("numbers", swarm_numbers(d, 4)); swarm_unwatch(a); }
        if (kind == SWARM_PASSED) { say("passed", a); quote("at"); }
        if (kind == SWARM_FINISHED) { say("finished", a); say("motion", swarm_pattern("circle", 0, 0)); }
        if (kind == SWARM_REPLACED) say("replaced", a);
    }"#;
    let python = r#"
if robot.me == 0:
    nose = robot.sense("nose", 3)
    robot.say("nose %d" % nose[0]); robot.say("robots %d" % nose[1])
    try:
        robot.sense("ear", 3)
    except RuntimeError:
        robot.say("ear -")
    robot.say("watch %d" % robot.watch_own("nose", 0.5, 1.4))
    motion = robot.start_pattern("square", 2, 1)
    robot.say("motion %d" % motion)
    while True:
        event = robot.next_event()
        if isinstance(event, Pushed):
            robot.say("pushed %d" % (event.seen[0] * 2 + 0.5)); robot.say("numbers %d" % len(event.seen)); robot.unwatch(event.watch)
        if isinstance(event, Passed):
            robot.say("passed %d" % event.motion); robot.say("at " + event.name)
        if isinstance(event, Ended):
            robot.say("%s %d" % (event.how, event.motion))
            if event.finished:
                robot.say("motion %d" % robot.start_pattern("circle"))
else:
    robot.receive()
"#;
    let from_c = said(&mut in_c("own-c", &format!("{SAY}{c}"), &BARE));
    let should = [
        "nose 6",
        "robots 3",
        "no sensor of this robot answers that",
        "ear -",
        "watch 1",
        "motion 2",
        "pushed 3",
        "numbers 1",
        "passed 2",
        "at corner 1",
        "passed 2",
        "at corner 2",
        "passed 2",
        "at corner 3",
        "passed 2",
        "at corner 4",
        "finished 2",
        "motion 3",
        "cannot move: no motion module of this robot knows this motion",
        "replaced 3",
    ];
    assert_eq!(lines_of(&from_c, 0), should);
    let (mut sim, _folder) = in_python("own", python, &BARE);
    let told = said(&mut sim);
    // A process says what it has to say when its turn is over.
    let sorted = |lines: Vec<&str>| {
        let mut l: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
        l.sort();
        l
    };
    assert_eq!(sorted(lines_of(&told, 0)), sorted(should.to_vec()));
}

#[test]
fn what_was_written_down_survives_a_crash_of_the_robot() {
    let c = r#"
    void robot_event(int kind, int a, double x, double y) {
        static char kept[8]; (void)a; (void)x; (void)y;
        if (kind != SWARM_START || swarm_me() != 2) return;
        int n = swarm_persisted(kept, 8);
        say("kept", n);
        if (n > 0) { kept[n] = 0; swarm_say(kept); }
        swarm_persist(n > 0 ? "twice" : "once", n > 0 ? 5 : 4);
    }"#;
    let python = r#"
if robot.me == 2:
    kept = robot.persisted()
    robot.say("kept %s" % ("-" if kept is None else len(kept)))
    if kept:
        robot.say(kept.decode())
    robot.persist(b"twice" if kept else b"once")
robot.receive()
"#;
    let faults = format!(
        "{FAULTS}\n[[fault]]\nat = \"14s\"\ncrash = [\"c\"]\n[[fault]]\nat = \"16s\"\nrecover = [\"c\"]"
    );
    let with = World { more: &faults, ..BARE };
    let should = ["kept -", "kept 4", "once", "kept 5", "twice"];
    let told = said(&mut in_c("kept-c", &format!("{SAY}{c}"), &with));
    assert_eq!(lines_of(&told, 2), should);
    let (mut sim, _folder) = in_python("kept", python, &with);
    assert_eq!(lines_of(&said(&mut sim), 2), should);
}

/// Robot `a` goes ten metres to the east, where `b` stands: they touch after nine, and after one it asks what is
/// coming.
#[test]
fn a_collision_is_known_before_with_whom_and_ends_the_motion_when_it_comes() {
    let c = r#"
    void robot_event(int kind, int a, double x, double y) {
        static swarm_coming coming[4];
        if (kind == SWARM_START && swarm_me() == 0) { swarm_forward(10, 1); swarm_timer(1); }
        if (kind == SWARM_TIMER) {
            if (swarm_pending(0, coming, 4) < 2) swarm_say("nothing is coming");
            say("with", coming[0].robot); say("at", (int)(coming[0].at + 0.5)); swarm_say(coming[0].what); say("then", coming[1].robot);
        }
        if (kind == SWARM_COLLIDED) {
            say("collided", a); say("with", swarm_other()); say("at", (int)(x + 0.001)); say("now", (int)(swarm_now() + 0.001));
            if (y != 0) swarm_say("beside it");
            swarm_turn(1, 1);
        }
        if (kind == SWARM_FINISHED) say("finished", a);
    }"#;
    let told = said(&mut in_c("collided-c", &format!("{SAY}{c}"), &BARE));
    let should = [
        "with 1",
        "at 9",
        "collision with /robots/b",
        "then -",
        "collided 1",
        "with 1",
        "at 9",
        "now 9",
        "finished 3",
    ];
    assert_eq!(lines_of(&told, 0), should);
    assert_eq!(lines_of(&told, 1), [""; 0], "it was not on a motion");
    let python = r#"
if robot.me == 0:
    motion = robot.start_forward(10, 1)
    robot.sleep(1)
    first, then = robot.pending()[:2]
    robot.say("with %d" % first.robot); robot.say("at %d" % (first.at + 0.5)); robot.say(first.what); robot.say("then -" if then.robot < 0 else "?")
    how = robot.wait_for(Ended, motion=motion)
    robot.say("collided %d" % how.motion if how.collided else how.how); robot.say("with %d" % how.other)
    robot.say("at %d" % (how.x + 0.001)); robot.say("now %d" % (robot.now + 0.001))
    robot.say("finished 3" if robot.turn(1, turn_speed=1).finished else "?")
robot.receive()
"#;
    let (mut sim, _folder) = in_python("collided", python, &BARE);
    let told = said(&mut sim);
    let spaced: Vec<String> =
        lines_of(&told, 0).iter().map(|l| l.replace("collision-with-", "collision with ")).collect();
    assert_eq!(spaced, should);
}

#[test]
fn a_module_that_was_compiled_against_the_old_header_finds_what_it_knew() {
    let code = r#"
    typedef struct { double at; int32_t conditional; char what[20]; } old_coming;
    __attribute__((import_module("swarm"), import_name("pending"))) int old_pending(int robot, old_coming *out, int most);
    static old_coming coming[2];
    void robot_event(int kind, int a, double x, double y) {
        (void)a; (void)x; (void)y;
        if (kind == SWARM_START && swarm_me() == 0) { swarm_forward(10, 1); swarm_timer(1); }
        if (kind == SWARM_TIMER && old_pending(0, coming, 1) == 2 && coming[0].conditional && coming[1].at == 0) swarm_say(coming[0].what);
    }"#;
    let told = said(&mut in_c("old-c", code, &BARE));
    assert_eq!(lines_of(&told, 0), ["collision with /rob"]);
    let (mut sim, _folder) =
        in_lines("old", "echo timer 1; echo forward 10 1; echo pending 0; read what; echo say $what", &BARE);
    assert!(lines_of(&said(&mut sim), 0).contains(&"pending 1 1 0 timer"));
}

#[test]
fn a_hostile_program_cannot_harm_protocols_or_others_through_them() {
    let good = "if (swarm_me() == 0) { if (kind == SWARM_START) swarm_propose(1, \"good\", 4);
        if (kind == SWARM_DECIDED && a == 1) swarm_say(\"agreed\"); if (kind == SWARM_LEADS && a == 2) swarm_say(\"led\"); return; }";
    for (code, why) in [
        // What ends the program.
        ("static char big[20000]; swarm_propose(3, big, 20000);", "20000 bytes"),
        ("static char big[20000]; swarm_cast(big, 20000);", "20000 bytes"),
        ("swarm_private((void *)4000000000u, 10);", "pointer"),
        ("swarm_propose(3, &x, -1);", "negative"),
        ("for (;;) swarm_elect();", "1000 times"),
        ("for (;;) swarm_propose(3, &x, 8);", "1000 times"),
        ("for (int k = 0;; k++) swarm_propose(k, &x, 8);", "1000 times"),
        ("for (;;) swarm_clock_at(1e300);", "1000 times"),
        ("for (;;) { swarm_enter(); swarm_leave(); }", "1000 times"),
        ("for (;;) { swarm_quit(); swarm_join(); }", "1000 times"),
        // What is nonsense, and harms nobody.
        ("swarm_propose(-1, 0, 0); swarm_exclude(-1); swarm_exclude(77); swarm_leave(); swarm_leave(); swarm_clock_at(0.0 / 0.0);
          swarm_clock_at(-1e300); swarm_clock_at(1e300); swarm_quit(); swarm_quit(); swarm_cast(0, 0); swarm_private(0, 0);", ""),
    ] {
        let text = format!("void robot_event(int kind, int a, double x, double y) {{ (void)a; (void)y; {good} if (kind != SWARM_START || swarm_me() != 1) return; {code} }}");
        let told = said(&mut in_c("hostile-c", &text, &FULL));
        let failed: Vec<&str> = lines_of(&told, 1).into_iter().filter(|l| l.contains("failed")).collect();
        assert_eq!(failed.len(), usize::from(!why.is_empty()), "{code}: {failed:?}");
        assert!(failed.iter().all(|l| l.contains(why)), "{code}: {failed:?}");
        let well = lines_of(&told, 0);
        assert!(well.contains(&"agreed") && well.contains(&"led"), "{code}: {told:?}");
    }
}

#[test]
fn a_hostile_process_cannot_either() {
    let big = "00".repeat(16_385);
    for (name, said_line, why) in [
        ("value", format!("propose 1 {big}"), "no call"),
        ("cast", format!("cast {big}"), "no call"),
        ("instance", "propose 99999999999999999999 00".to_owned(), "no call"),
        ("robot", "exclude 4294967296".to_owned(), "no call"),
        ("name", format!("sense {}", "x".repeat(65)), "no call"),
        ("numbers", format!("pattern p{}", " 1".repeat(65)), "no call"),
        ("flood", ["elect"; 1001].join("\n"), "1000 times"),
    ] {
        let calls = format!("case $hello in *' 1 3') echo '{said_line}'; esac");
        let (mut sim, _folder) = in_lines(name, &calls, &FULL);
        let told = said(&mut sim);
        let failed: Vec<&(u32, String)> = told.iter().filter(|s| s.1.contains("failed")).collect();
        assert!(failed.len() == 1 && failed[0].0 == 1 && failed[0].1.contains(why), "{name}: {failed:?}");
        assert!(lines_of(&told, 0).contains(&"leads 2"), "{name}");
    }
}

#[test]
fn a_program_that_asks_again_whenever_it_is_answered_is_stopped_and_the_others_go_on() {
    let code = "void robot_event(int kind, int a, double x, double y) { (void)a; (void)x; (void)y;
        if (swarm_me() == 1 && (kind == SWARM_START || kind == SWARM_CLOCK)) swarm_clock();
        if (swarm_me() == 0 && kind == SWARM_LEADS) swarm_say(\"led\"); }";
    let mut sim = in_c("restless", code, &FULL);
    assert!(lines_of(&said(&mut sim), 0).contains(&"led"));
    assert_eq!(sim.now().seconds(), 20.0, "the run goes on");
}

/// The robot with the highest number leads until it crashes, after 20 s; then the next one.
#[test]
fn robots_in_c_elect_a_leader_agree_where_to_meet_and_go_on_when_it_crashes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds/c-agree.toml");
    let mut sim = Sim::load(path, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    let told = said(&mut sim);
    let led: Vec<u32> = told.iter().filter(|s| s.1 == "I lead").map(|s| s.0).collect();
    assert_eq!(led, [4, 3], "{told:?}");
    let verdicts = sim.model().asserts.iter().zip(&sim.state().verdicts);
    let missed: Vec<&str> = verdicts.filter(|(a, v)| !a.met(v)).map(|(a, _)| a.name.as_str()).collect();
    assert_eq!(missed, [""; 0]);
}
