/** What the HTTP side of Envoy's statistics says: one prefix can stand on several listeners, and a listener can have many. Pure. */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import { isAnyAddress, isLoopbackAddress } from "../../sockets/address-text.ts";
import { isMeshPort } from "../../traffic/neighbours.ts";

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

/** `admin`: Envoy's own interface, where our questions show up. */
type ListenerKind = "counted" | "ignored" | "admin";

type Listener = {
  readonly kind: ListenerKind;
  /** -1 where the name does not tell. */
  readonly port: number;
};

/** Where Istio's sidecar takes everything that comes in. */
const ISTIO_INBOUND_PORT = 15_006;
/** Metrics and readiness of Envoy Gateway's proxies. */
const GATEWAY_OWN_PORTS: readonly number[] = [19_001, 19_003];

export function listenerOf(name: string, settings: DrainSettings): Listener {
  if (name === "admin") return { kind: "admin", port: -1 };
  // Internal listeners have no socket, and a path can only be reached from inside.
  if (name.startsWith("envoy_internal_") || name.startsWith("/")) return { kind: "ignored", port: -1 };
  const cut = name.lastIndexOf("_");
  const address = addressIn(name.slice(0, Math.max(0, cut)));
  const port = cut < 0 ? "" : name.slice(cut + 1);
  // A name that was given by hand: whatever it is, waiting for it is the safe mistake.
  if (address === "" || !/^[0-9]{1,5}$/.test(port))
    return { kind: settings.driver === "istio" ? "ignored" : "counted", port: -1 };
  const counted = isOutside(address, settings.addressScope) && isDrained(Number(port), settings);
  return { kind: counted ? "counted" : "ignored", port: Number(port) };
}

function isDrained(port: number, settings: DrainSettings): boolean {
  if (settings.driver === "istio") return port === ISTIO_INBOUND_PORT;
  if (port === settings.port || isMeshPort(port) || settings.ignorePorts.includes(port)) return false;
  if (settings.drainPorts.length > 0) return settings.drainPorts.includes(port);
  return !GATEWAY_OWN_PORTS.includes(port);
}

function isOutside(address: string, scope: string): boolean {
  if (scope !== "") return address === scope || isAnyAddress(address);
  return !isLoopbackAddress(address);
}

/** Statistics write `_` for `:`: `0.0.0.0`, or `[__1]` for `[::1]`. @returns empty for what is no address */
function addressIn(text: string): string {
  if (/^[0-9]{1,3}(\.[0-9]{1,3}){3}$/.test(text)) return text;
  if (!/^\[[0-9a-fA-F_.]+\]$/.test(text)) return "";
  return text
    .slice(1, text.length - 1)
    .split("_")
    .join(":");
}
