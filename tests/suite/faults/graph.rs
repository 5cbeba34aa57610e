//! A graph of events with its reachability: which event happens before which.
//!
//! Nodes come in an order in which every edge goes forward, so that the nodes that reach a node are those that reach
//! one of its predecessors, and the predecessors themselves.

/// The most nodes, which need a bit for each pair of them.
const MOST: usize = 40_000;

/// A set of nodes.
#[derive(Clone, Default)]
struct Set(Vec<u64>);

impl Set {
    fn add(&mut self, node: u32) {
        let word = node as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (node % 64);
    }

    fn join(&mut self, other: &Set) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn has(&self, node: u32) -> bool {
        self.0.get(node as usize / 64).is_some_and(|w| w >> (node % 64) & 1 == 1)
    }
}

/// What a node is to the accesses around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It only carries an order on.
    Plain,
    /// It orders accesses to shared memory before those of the asynchronous proxy.
    ProxyFence,
}

/// The graph.
#[derive(Default)]
pub(crate) struct Graph {
    /// The nodes that reach each node, and itself.
    before: Vec<Set>,
    /// Those that reach it through a proxy fence.
    fenced: Vec<Set>,
    from: Vec<Vec<u32>>,
    /// The line of the PTX that each node comes from.
    lines: Vec<u32>,
}

impl Graph {
    /// Adds a node behind others. `None` if there are too many.
    pub(crate) fn add(&mut self, line: u32, from: Vec<u32>, role: Role) -> Option<u32> {
        let node = self.before.len() as u32;
        if self.before.len() >= MOST {
            return None;
        }
        let (mut before, mut fenced) = (Set::default(), Set::default());
        for p in &from {
            before.join(&self.before[*p as usize]);
            fenced.join(&self.fenced[*p as usize]);
        }
        before.add(node);
        if role == Role::ProxyFence {
            fenced.join(&before);
        }
        self.before.push(before);
        self.fenced.push(fenced);
        self.from.push(from);
        self.lines.push(line);
        Some(node)
    }

    /// Whether `a` is `b` or happens before it.
    pub(crate) fn reaches(&self, a: u32, b: u32) -> bool {
        self.before[b as usize].has(a)
    }

    /// The same, through a proxy fence.
    pub(crate) fn reaches_fenced(&self, a: u32, b: u32) -> bool {
        self.fenced[b as usize].has(a)
    }

    /// The lines of the nodes on a shortest path from `a` to `b`.
    pub(crate) fn path(&self, a: u32, b: u32) -> Vec<u32> {
        let mut next: std::collections::BTreeMap<u32, u32> = [(b, b)].into();
        let mut queue = std::collections::VecDeque::from([b]);
        while let Some(node) = queue.pop_front() {
            if node == a {
                break;
            }
            for p in self.from[node as usize].iter().filter(|p| self.reaches(a, **p)) {
                if !next.contains_key(p) {
                    next.insert(*p, node);
                    queue.push_back(*p);
                }
            }
        }
        let (mut lines, mut node) = (vec![], a);
        loop {
            lines.push(self.lines[node as usize]);
            match next.get(&node) {
                Some(n) if *n != node => node = *n,
                _ => return lines,
            }
        }
    }
}
