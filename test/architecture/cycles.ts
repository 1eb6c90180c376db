/** Finds cycles in an import graph. */

type Edges = readonly (readonly [from: string, to: readonly string[]])[];

/** Returns the groups of names that reach each other, each in alphabetical order. */
export function cyclesIn(edges: Edges): readonly (readonly string[])[] {
  const targets = new Map<string, Set<string>>();
  for (const [from, to] of edges) targets.set(from, new Set([...(targets.get(from) ?? []), ...to]));
  const reachableNames = new Map([...targets.keys()].map((name) => [name, reachableFrom(name, targets)]));
  const groups = new Map<string, readonly string[]>();
  for (const [name, reached] of reachableNames) {
    if (!reached.has(name)) continue;
    const group = [...reached].filter((other) => reachableNames.get(other)?.has(name) === true).sort();
    groups.set(group.join(), group);
  }
  return [...groups.values()];
}

function reachableFrom(name: string, targets: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>();
  const queue = [...(targets.get(name) ?? [])];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    queue.push(...(targets.get(next) ?? []));
  }
  return reached;
}
