//! The sections of a scenario, in one table: how each is written, where its things stand in the scene, and what they
//! are called when nobody said a name. Whoever edits documents asks here; no other file lists sections.

/// How a section is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `[run]`: one at most.
    Only,
    /// `[type.NAME]`: by name.
    Named,
    /// `[[wall]]`: one after the other.
    List,
    /// `[[type.NAME.part]]`: one after the other, in a type.
    InType,
    /// `[type.NAME.controller]`: in a type, usually one.
    OneInType,
}

/// How a thing has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    /// It has none.
    Nowhere,
    /// By its pose, `at`.
    AtPose,
    /// By its `points`.
    ByPoints,
}

/// What there is to know about a section.
#[derive(Debug)]
pub(super) struct Sort {
    pub(super) word: &'static str,
    pub(super) shape: Shape,
    /// Where names of its things must be unique; a path of the scene where it begins with `/`.
    pub(super) root: Option<&'static str>,
    /// The group of the scene that has its things.
    group: Option<&'static str>,
    /// How names begin when nobody said one.
    pub(super) stem: &'static str,
    pub(super) stands: Stands,
    /// Whether a template can have it.
    pub(super) in_template: bool,
}

impl Sort {
    const fn new(word: &'static str, shape: Shape) -> Sort {
        Sort { word, shape, root: None, group: None, stem: word, stands: Stands::Nowhere, in_template: false }
    }

    /// Its names are unique there, whether that is a place of the scene or not.
    const fn unique_in(self, root: &'static str) -> Sort {
        Sort { root: Some(root), ..self }
    }

    const fn in_group(self, group: &'static str) -> Sort {
        Sort { group: Some(group), ..self }
    }

    const fn called(self, stem: &'static str) -> Sort {
        Sort { stem, ..self }
    }

    /// It has a place, and templates can have it.
    const fn placed(self, stands: Stands) -> Sort {
        Sort { stands, in_template: true, ..self }
    }
}

/// Every section. Groups of the scene are gone through in this order.
const TABLE: [Sort; 24] = [
    Sort::new("run", Shape::Only),
    Sort::new("world", Shape::Only),
    Sort::new("record", Shape::Only),
    Sort::new("params", Shape::Only),
    Sort::new("network", Shape::Only),
    Sort::new("surface", Shape::Named).unique_in("/surfaces/").in_group("/surfaces"),
    Sort::new("type", Shape::Named).unique_in("/types/").in_group("/types"),
    // These two, and `use`, are no paths of the scene, but names that must be unique all the same.
    Sort::new("template", Shape::Named).unique_in("template/"),
    Sort::new("stack", Shape::Named).unique_in("stack/"),
    Sort::new("part", Shape::InType),
    Sort::new("register", Shape::InType),
    Sort::new("protocol", Shape::InType),
    Sort::new("controller", Shape::OneInType),
    Sort::new("algorithm", Shape::OneInType),
    Sort::new("wall", Shape::List)
        .unique_in("/world/walls/")
        .in_group("/world/walls")
        .called("wall1")
        .placed(Stands::ByPoints),
    Sort::new("obstacle", Shape::List)
        .unique_in("/obstacles/")
        .in_group("/obstacles")
        .called("obstacle1")
        .placed(Stands::AtPose),
    Sort::new("track", Shape::List)
        .unique_in("/world/tracks/")
        .in_group("/world/tracks")
        .called("track1")
        .placed(Stands::ByPoints),
    Sort::new("beacon", Shape::List)
        .unique_in("/beacons/")
        .in_group("/beacons")
        .called("beacon1")
        .placed(Stands::AtPose),
    Sort::new("use", Shape::List).unique_in("use/").placed(Stands::AtPose),
    Sort::new("assert", Shape::List).in_group("/asserts"),
    Sort::new("fault", Shape::List).in_group("/faults"),
    Sort::new("display", Shape::List).unique_in("/displays/").in_group("/displays").called("display1"),
    Sort::new("zone", Shape::List).unique_in("/world/zones/").in_group("/world/zones").called("zone1"),
    Sort::new("robot", Shape::List)
        .unique_in("/robots/")
        .in_group("/robots")
        .called("r")
        .placed(Stands::AtPose),
];

/// The section of that word.
pub(super) fn sort_of(word: &str) -> Option<&'static Sort> {
    TABLE.iter().find(|s| s.word == word)
}

/// Groups of the scene, each with the section of its things.
pub(super) fn groups() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.iter().filter_map(|s| Some((s.group?, s.word)))
}

/// The words of the sections that stand inside of one of a type, a stack or a template.
pub(super) fn inside(section: &str) -> impl Iterator<Item = &'static str> {
    let fits = move |s: &&Sort| match section {
        "type" => matches!(s.shape, Shape::InType | Shape::OneInType),
        "stack" => s.word == "protocol",
        "template" => s.in_template,
        _ => false,
    };
    let words: Vec<&'static str> = TABLE.iter().filter(fits).map(|s| s.word).collect();
    words.into_iter()
}
