/** What the HTTP side of Envoy's statistics says: one prefix can stand on several listeners, and a listener can have many. Pure. */

/** Numbers are -1 where the statistics do not have them. */
export type Prefix = {
  requests: number;
  connections: number;
  upgrades: number;
  /** It stands on a listener that counts. */
  counted: boolean;
  /** The names of others it stands on. */
  ignoredBy: string[];
};

export function prefixNamed(prefixes: Map<string, Prefix>, name: string): Prefix {
  const known = prefixes.get(name);
  if (known !== undefined) return known;
  const fresh: Prefix = { requests: -1, connections: -1, upgrades: -1, counted: false, ignoredBy: [] };
  prefixes.set(name, fresh);
  return fresh;
}

/** A prefix that stands on no listener we know of is waited for: nothing proves that it does not matter. */
function isCounted(prefix: Prefix): boolean {
  return prefix.counted || prefix.ignoredBy.length === 0;
}

/** An upgraded connection is one active request until it ends; where the two differ the larger is right. */
export function activeRequests(prefixes: Map<string, Prefix>): number {
  let active = 0;
  for (const prefix of prefixes.values()) {
    if (isCounted(prefix)) active = active + Math.max(0, prefix.requests, prefix.upgrades);
  }
  return active;
}

/**
 * Connections of counted listeners that speak no HTTP: Envoy has no gauge for those. Both gauges are read while
 * connections come and go, so a difference below zero only says that there is none.
 *
 * @param ignored connections of listeners that do not count: where a prefix is on both kinds, these are not ours
 */
export function tcpSessions(connections: number, prefixes: Map<string, Prefix>, ignored: Map<string, number>): number {
  let rest = connections;
  for (const prefix of prefixes.values()) {
    if (!prefix.counted) continue;
    let elsewhere = 0;
    for (const name of prefix.ignoredBy) elsewhere = elsewhere + (ignored.get(name) ?? 0);
    rest = rest - Math.max(0, prefix.connections - elsewhere);
  }
  return Math.max(0, rest);
}
