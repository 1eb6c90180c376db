/** Finds cycles in an import graph. */

type Edges = readonly (readonly [from: string, to: readonly string[]])[];

/** Returns the groups of names that reach each other, each in alphabetical order. */
export function cyclesIn(edges: Edges): readonly (readonly string[])[] {
  const targets = new Map<string, Set<string>>();
  for (const [from, to] of edges) targets.set(from, new Set([...(targets.get(from) ?? []), ...to]));
  const reach = new Map([...targets.keys()].map((name) => [name, reachableFrom(name, targets)]));
  const groups = new Map<string, readonly string[]>();
  for (const [name, reached] of reach) {
    if (!reached.has(name)) continue;
    const group = [...reached].filter((other) => reach.get(other)?.has(name) === true).sort();
    groups.set(group.join(), group);
  }
  return [...groups.values()];
}

function reachableFrom(name: string, targets: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [...(targets.get(name) ?? [])];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    waiting.push(...(targets.get(next) ?? []));
  }
  return reached;
}
