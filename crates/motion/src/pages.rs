//! Lists in large pages: the processor finds its way in them where it would lose it in millions of small ones.
//!
//! In: how long a list will be. Out: an empty list with that much room. Where the system has no large pages, or gives none, it is a list like any other.
//! This is the only file of the crate that lifts the ban on `unsafe`.

/// Bytes from which on it is worth it.
const LARGE: usize = 4 << 20;

/// An empty list with room for `count`.
pub(crate) fn list<T>(count: usize) -> Vec<T> {
    let list = Vec::with_capacity(count);
    advise(&list);
    list
}

/// Asks for large pages for all the room of a list, as far as it was not written to yet.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "what is known of memory to the system can be told in no other way")]
pub(crate) fn advise<T>(list: &Vec<T>) {
    use nix::sys::mman::{MmapAdvise, madvise};
    /// Pages are no smaller than this; where they are larger, the system refuses, and nothing is lost.
    const PAGE: usize = 4096;
    let bytes = list.capacity() * size_of::<T>();
    if bytes < LARGE {
        return;
    }
    let Some(start) = std::ptr::NonNull::new(list.as_ptr().cast_mut().cast::<std::ffi::c_void>()) else {
        return;
    };
    let skip = start.addr().get().next_multiple_of(PAGE) - start.addr().get();
    let length = (bytes - skip) / PAGE * PAGE;
    // SAFETY: the range lies within the room of the list: `skip` is less than a page and the length is rounded down. This advice changes
    // neither what is in memory nor what may be done with it, only the size of the pages that are given.
    let _ = unsafe { madvise(start.byte_add(skip), length, MmapAdvise::MADV_HUGEPAGE) };
}

/// Elsewhere nobody is asked.
#[cfg(not(target_os = "linux"))]
pub(crate) fn advise<T>(_: &Vec<T>) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The flags of the mapping that an address is in, as the system tells them.
    #[allow(clippy::disallowed_methods, reason = "only the system knows the sizes of pages")]
    fn flags(address: usize) -> String {
        let smaps = std::fs::read_to_string("/proc/self/smaps").expect("Linux");
        let mut inside = false;
        for line in smaps.lines() {
            if let Some((from, to)) = line.split(' ').next().and_then(|range| range.split_once('-')) {
                let parsed = [from, to].map(|end| usize::from_str_radix(end, 16));
                if let [Ok(from), Ok(to)] = parsed {
                    inside = (from..to).contains(&address);
                }
            }
            if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| inside) {
                return flags.to_owned();
            }
        }
        String::new()
    }

    #[test]
    fn long_lists_are_in_large_pages_and_short_ones_are_not() {
        let mut long = list::<u64>(LARGE);
        long.resize(LARGE, 7);
        assert!(long.iter().all(|x| *x == 7));
        let middle = (&raw const long[LARGE / 2]).addr();
        if std::fs::exists("/sys/kernel/mm/transparent_hugepage").is_ok_and(|there| there) {
            assert!(flags(middle).split(' ').any(|flag| flag == "hg"), "{}", flags(middle));
        } else {
            println!("SKIPPED: this system has no large pages");
        }
        let short = list::<u64>(10);
        assert!(!flags(short.as_ptr().addr()).split(' ').any(|flag| flag == "hg"));
    }
}
