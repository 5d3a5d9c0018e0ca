//! Which addresses are mapped, and what may be done there.

use super::{Access, BadKind, Span};

/// The spans of a launch, checked and in the order of their addresses.
#[derive(Clone, Debug)]
pub(super) struct SpanMap {
    spans: Vec<Span>,
}

impl SpanMap {
    /// Checks and sorts; answers what is wrong in words.
    pub(super) fn new(spans: &[Span], image_len: usize) -> Result<Self, String> {
        let mut spans = spans.to_vec();
        spans.sort_by_key(|s| s.address);
        for s in &spans {
            let (end, last) =
                (u64::from(s.address) + u64::from(s.bytes), u64::from(s.offset) + u64::from(s.bytes));
            if s.bytes == 0 || end > 1 << 32 {
                return Err(format!("the span at {:#x} has a length of `{}`", s.address, s.bytes));
            }
            if s.access != Access::Port && last > image_len as u64 {
                return Err(format!("the span at {:#x} ends beyond the image at byte `{last}`", s.address));
            }
        }
        for two in spans.windows(2) {
            if u64::from(two[0].address) + u64::from(two[0].bytes) > u64::from(two[1].address) {
                return Err(format!(
                    "the spans at {:#x} and at {:#x} overlap",
                    two[0].address, two[1].address
                ));
            }
        }
        Ok(Self { spans })
    }

    pub(super) fn all(&self) -> &[Span] {
        &self.spans
    }

    fn access(&self, address: u64) -> Option<Access> {
        let k = self.spans.partition_point(|s| u64::from(s.address) <= address).checked_sub(1)?;
        let span = &self.spans[k];
        (address < u64::from(span.address) + u64::from(span.bytes)).then_some(span.access)
    }

    fn bytes(&self, address: u32, width: u32) -> impl Iterator<Item = Option<Access>> + '_ {
        (0..width).map(move |k| self.access(u64::from(address) + u64::from(k)))
    }

    /// What is wrong with a peek.
    pub(super) fn bad_peek(&self, address: u32, width: u32) -> Option<BadKind> {
        if !address.is_multiple_of(width) {
            return Some(BadKind::Misaligned);
        }
        self.bytes(address, width).any(|a| a.is_none()).then_some(BadKind::Unmapped)
    }

    /// What is wrong with a poke, and whether it writes anything at all. Of several flaws the last
    /// byte's is told, as `RegisterMap::poke` of the engine does.
    pub(super) fn bad_poke(&self, address: u32, width: u32) -> (Option<BadKind>, bool) {
        if !address.is_multiple_of(width) {
            return (Some(BadKind::Misaligned), false);
        }
        let (mut bad, mut writes) = (None, false);
        for access in self.bytes(address, width) {
            match access {
                None => bad = Some(BadKind::Unmapped),
                Some(Access::Read) => bad = Some(BadKind::ReadOnly),
                Some(Access::Write | Access::Port) => writes = true,
            }
        }
        (bad, writes)
    }

    /// Whether a peek touches a port.
    pub(super) fn is_port(&self, address: u32, width: u32) -> bool {
        address.is_multiple_of(width) && self.bytes(address, width).any(|a| a == Some(Access::Port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(address: u32, bytes: u32, access: Access) -> Span {
        Span { address, bytes, offset: 0, access }
    }

    #[test]
    fn accesses_are_judged_byte_by_byte() {
        let spans =
            [span(0x10, 2, Access::Read), span(0x12, 2, Access::Write), span(0xffff_ffff, 1, Access::Port)];
        let map = SpanMap::new(&spans, 2).unwrap();
        assert_eq!(map.bad_peek(0x10, 4), None);
        assert_eq!(map.bad_peek(0x14, 1), Some(BadKind::Unmapped));
        assert_eq!(map.bad_peek(0x11, 2), Some(BadKind::Misaligned));
        assert_eq!(map.bad_poke(0x12, 2), (None, true));
        assert_eq!(map.bad_poke(0x10, 4), (Some(BadKind::ReadOnly), true));
        assert_eq!(map.bad_poke(0x10, 2), (Some(BadKind::ReadOnly), false));
        assert_eq!(map.bad_poke(0x20, 4), (Some(BadKind::Unmapped), false));
        assert!(map.is_port(0xffff_ffff, 1) && map.is_port(0xffff_fffc, 4) && !map.is_port(0x10, 4));
    }

    #[test]
    fn spans_that_cannot_be_are_refused() {
        let wrong = |spans: &[Span]| SpanMap::new(spans, 4).unwrap_err();
        assert!(
            wrong(&[span(2, 2, Access::Read), span(0, 3, Access::Read)]).contains("0x0 and at 0x2 overlap")
        );
        assert!(wrong(&[span(0, 5, Access::Write)]).contains("beyond the image"));
        assert!(wrong(&[span(0, 0, Access::Read)]).contains("length"));
        assert!(wrong(&[span(0xffff_ffff, 2, Access::Port)]).contains("length"));
    }
}
