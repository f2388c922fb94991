//! Finds the strongly connected components of a graph.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::btree_map::Entry;

/// Returns the number of each node's component. An edge between two components leads to the higher number. This is
/// Kosaraju's algorithm without recursion.
pub fn components<N: Copy + Ord>(nodes: &[N], edges: &BTreeMap<N, Vec<N>>) -> BTreeMap<N, usize> {
    let mut reversed: BTreeMap<N, Vec<N>> = BTreeMap::new();
    for (&from, targets) in edges {
        for &to in targets {
            reversed.entry(to).or_default().push(from);
        }
    }
    let mut component = BTreeMap::new();
    for (number, &root) in finish_order(nodes, edges).iter().rev().enumerate() {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if let Entry::Vacant(place) = component.entry(node) {
                place.insert(number);
                open.extend(reversed.get(&node).into_iter().flatten());
            }
        }
    }
    component
}

/// Returns the nodes in the order in which a depth-first search finishes them.
fn finish_order<N: Copy + Ord>(nodes: &[N], edges: &BTreeMap<N, Vec<N>>) -> Vec<N> {
    let mut order = Vec::with_capacity(nodes.len());
    let mut seen = BTreeSet::new();
    for &start in nodes {
        let mut stack = vec![(start, false)];
        while let Some((node, is_finished)) = stack.pop() {
            if is_finished {
                order.push(node);
            } else if seen.insert(node) {
                stack.push((node, true));
                stack.extend(edges.get(&node).into_iter().flatten().map(|&next| (next, false)));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_lead_to_each_other_share_a_number_and_edges_lead_to_higher_ones() {
        let edges = BTreeMap::from([(1, vec![2]), (2, vec![3, 4]), (3, vec![2]), (4, vec![5])]);
        let found = components(&[5, 4, 3, 2, 1], &edges);
        assert_eq!(found[&2], found[&3]);
        assert!(found[&1] < found[&2] && found[&2] < found[&4] && found[&4] < found[&5]);
    }
}
