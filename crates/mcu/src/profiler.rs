//! Where a program spends its time: by symbol, and by call stack for flame graphs.

use std::collections::BTreeMap;

use crate::image::{Image, Symbol};
use crate::instruction::{Class, Instruction};
use crate::timing::{Outcome, Pipeline, Retired, Timing};

/// The cycles of deeper calls are counted to the function at that depth.
const DEEPEST: usize = 64;
/// Paths that are told apart; the cycles of further ones are counted to their callers.
const MOST_PATHS: usize = 100_000;
/// Calls that may be open: more are no calls but jumps.
const MOST_OPEN: usize = 1 << 20;

/// What was spent in a function itself, without those that it calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "what they say")]
pub struct Spent {
    pub cycles: u64,
    pub instructions: u64,
    /// Times it was called.
    pub calls: u64,
}

/// A call that has not returned.
#[derive(Debug, Clone, Copy)]
struct Frame {
    node: usize,
    returns_to: u32,
}

/// A function as called along one path.
#[derive(Debug, Clone)]
struct Node {
    /// Index into the symbols; `None` where the image has no name for it.
    symbol: Option<usize>,
    children: BTreeMap<Option<usize>, usize>,
    spent: Spent,
}

/// Times a program and keeps a tree of its calls. A call is BL or BLX; a branch to the address behind
/// a call returns from it.
#[derive(Debug, Clone)]
pub struct Profiler {
    pipeline: Pipeline,
    symbols: Vec<Symbol>,
    /// Calls of each symbol, and of what has no name.
    calls: BTreeMap<Option<usize>, u64>,
    nodes: Vec<Node>,
    stack: Vec<Frame>,
    /// The function executed in, and until which address.
    current: usize,
    range: std::ops::Range<u32>,
    last: u64,
}

impl Profiler {
    /// Times with that model; names come from the image.
    pub fn new(pipeline: Pipeline, image: &Image) -> Self {
        let root = Node {
            symbol: None,
            children: BTreeMap::new(),
            spent: Spent::default(),
        };
        Self {
            pipeline,
            symbols: image.functions().cloned().collect(),
            calls: BTreeMap::new(),
            nodes: vec![root],
            stack: Vec::new(),
            current: 0,
            range: 0..0,
            last: 0,
        }
    }

    /// The timing so far: account and phases.
    pub const fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// The function that holds an address, and the addresses it holds.
    fn symbol_at(&self, address: u32) -> (Option<usize>, std::ops::Range<u32>) {
        let after = self
            .symbols
            .partition_point(|symbol| symbol.address <= address);
        let end = self
            .symbols
            .get(after)
            .map_or(u32::MAX, |symbol| symbol.address);
        let Some(index) = after.checked_sub(1) else {
            return (None, 0..end);
        };
        let symbol = &self.symbols[index];
        // A symbol of unknown length reaches as far as the next.
        let own_end = match symbol.size {
            0 => end,
            size => symbol.address.saturating_add(size).min(end),
        };
        if address < own_end {
            (Some(index), symbol.address..own_end)
        } else {
            (None, own_end..end)
        }
    }

    /// Below `parent`, the function at `address`.
    fn enter(&mut self, parent: usize, address: u32) {
        let (symbol, range) = self.symbol_at(address);
        self.range = range;
        if let Some(&node) = self.nodes[parent].children.get(&symbol) {
            self.current = node;
        } else if self.nodes.len() < MOST_PATHS {
            let next = self.nodes.len();
            self.nodes[parent].children.insert(symbol, next);
            self.nodes.push(Node {
                symbol,
                children: BTreeMap::new(),
                spent: Spent::default(),
            });
            self.current = next;
        } else {
            self.current = parent;
        }
    }

    #[cold]
    fn call(&mut self, returns_to: u32, target: u32) {
        *self.calls.entry(self.symbol_at(target).0).or_default() += 1;
        if self.stack.len() >= MOST_OPEN {
            return;
        }
        self.stack.push(Frame {
            node: self.current,
            returns_to,
        });
        if self.stack.len() <= DEEPEST {
            self.enter(self.current, target);
        } else {
            // Until it returns nothing is elsewhere.
            self.range = 0..u32::MAX;
        }
    }

    /// A branch out of the function: a return, or a call in tail position.
    #[cold]
    fn elsewhere(&mut self, address: u32) {
        let returned = self
            .stack
            .iter()
            .rposition(|frame| frame.returns_to == address);
        if let Some(depth) = returned {
            self.current = self.stack[depth].node;
            self.stack.truncate(depth);
            self.range = if depth > DEEPEST {
                0..u32::MAX
            } else {
                self.symbol_at(address).1
            };
            return;
        }
        let parent = self.stack.last().map_or(0, |frame| frame.node);
        self.enter(parent, address);
    }

    fn name(&self, symbol: Option<usize>) -> &str {
        symbol.map_or("[unknown]", |index| self.symbols[index].name.as_str())
    }

    /// By function, all paths together.
    pub fn flat(&self) -> Vec<(String, Spent)> {
        let mut spent: BTreeMap<&str, Spent> = BTreeMap::new();
        for node in self.nodes.iter().skip(1) {
            let sum = spent.entry(self.name(node.symbol)).or_default();
            sum.cycles += node.spent.cycles;
            sum.instructions += node.spent.instructions;
        }
        for (&symbol, &calls) in &self.calls {
            spent.entry(self.name(symbol)).or_default().calls = calls;
        }
        let mut flat: Vec<_> = spent
            .into_iter()
            .map(|(name, spent)| (name.to_owned(), spent))
            .collect();
        flat.sort_by_key(|(_, spent)| std::cmp::Reverse(spent.cycles));
        flat
    }

    /// By call stack, a line each: `main;sign;multiply 1234`, in cycles, as flame graph programs read it.
    pub fn folded(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut open: Vec<(usize, String)> = vec![(0, String::new())];
        while let Some((index, path)) = open.pop() {
            let node = &self.nodes[index];
            for &child in node.children.values() {
                let name = self.name(self.nodes[child].symbol);
                let below = if path.is_empty() {
                    name.to_owned()
                } else {
                    format!("{path};{name}")
                };
                open.push((child, below));
            }
            if node.spent.cycles > 0 {
                lines.push(format!("{path} {}", node.spent.cycles));
            }
        }
        lines.sort();
        lines
    }
}

impl Timing for Profiler {
    fn retire(&mut self, instruction: &Instruction, retired: &Retired) {
        if !self.range.contains(&retired.address) {
            self.elsewhere(retired.address);
        }
        self.pipeline.retire(instruction, retired);
        let now = self.pipeline.now();
        let spent = &mut self.nodes[self.current].spent;
        spent.cycles += now - self.last;
        spent.instructions += 1;
        self.last = now;
        if retired.outcome == Outcome::Taken {
            if instruction.facts.class == Class::Call {
                let behind = retired
                    .address
                    .wrapping_add(u32::from(instruction.facts.size));
                self.call(behind, retired.next);
            } else if self
                .stack
                .last()
                .is_some_and(|frame| frame.returns_to == retired.next)
            {
                self.elsewhere(retired.next);
            }
        }
    }

    fn marker(&mut self, number: u8) {
        self.pipeline.marker(number);
    }
}
