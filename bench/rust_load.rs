// SPDX-License-Identifier: MIT
// A program with deep stacks and many inlined functions: rust_load SECONDS.
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn words(state: &mut u64, count: usize) -> Vec<String> {
    (0..count).map(|_| format!("w{:x}", next(state) % 9973)).collect()
}

fn divide(list: &mut [String], depth: usize) -> usize {
    if list.len() < 8 || depth == 0 {
        list.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| b.cmp(a)));
        return list.len();
    }
    let (left, right) = list.split_at_mut(list.len() / 2);
    divide(left, depth - 1) + divide(right, depth - 1)
}

fn count(list: &[String]) -> (BTreeMap<&str, usize>, HashMap<usize, Vec<&str>>) {
    let mut tree = BTreeMap::new();
    let mut by_length: HashMap<usize, Vec<&str>> = HashMap::new();
    for word in list {
        *tree.entry(word.as_str()).or_insert(0) += 1;
        by_length.entry(word.len()).or_default().push(word);
    }
    (tree, by_length)
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|x| x.parse().ok()).unwrap_or(10);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut state, mut sum) = (88172645463325252u64, 0usize);
    while Instant::now() < end {
        let mut list = words(&mut state, 20000);
        sum += divide(&mut list, 9);
        let (tree, by_length) = count(&list);
        sum += tree.iter().filter(|(k, _)| k.ends_with('7')).map(|(_, v)| v).sum::<usize>();
        sum += by_length.values().flat_map(|v| v.iter()).map(|w| w.len()).max().unwrap_or(0);
    }
    println!("{sum}");
}
