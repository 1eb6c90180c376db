/** Combines HTTP statistics by `stat_prefix`. Listeners can share a prefix, and a listener can have several prefixes. Pure. */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import { isAnyAddress, isLoopbackAddress } from "../../sockets/address-text.ts";
import { isMeshPort } from "../../traffic/other-processes.ts";

/** Numbers that are not in the statistics are -1. */
export type Prefix = {
  requests: number;
  connections: number;
  upgrades: number;
  counted: boolean;
  ignoredBy: string[];
};

export function prefixNamed(prefixes: Map<string, Prefix>, name: string): Prefix {
  const knownPrefix = prefixes.get(name);
  if (knownPrefix !== undefined) return knownPrefix;
  const prefix: Prefix = { requests: -1, connections: -1, upgrades: -1, counted: false, ignoredBy: [] };
  prefixes.set(name, prefix);
  return prefix;
}

/** A prefix without a known listener counts, because its requests may be traffic of the Pod. */
function isCounted(prefix: Prefix): boolean {
  return prefix.counted || prefix.ignoredBy.length === 0;
}

/** An upgraded connection is an active request until it closes. If the gauges of a prefix differ, the larger one counts. */
export function activeRequests(prefixes: Map<string, Prefix>): number {
  let active = 0;
  for (const prefix of prefixes.values()) {
    if (isCounted(prefix)) active = active + Math.max(0, prefix.requests, prefix.upgrades);
  }
  return active;
}

/**
 * Computes the non-HTTP connections of counted listeners, for which Envoy does not have a gauge: all connections minus HTTP connections.
 * The gauges are not read atomically, so a negative difference means zero.
 *
 * @param ignored connections of ignored listeners by name; subtracted from prefixes that counted and ignored listeners share
 */
export function tcpSessions(connections: number, prefixes: Map<string, Prefix>, ignored: Map<string, number>): number {
  let sessions = connections;
  for (const prefix of prefixes.values()) {
    if (!prefix.counted) continue;
    let ignoredConnections = 0;
    for (const name of prefix.ignoredBy) ignoredConnections = ignoredConnections + (ignored.get(name) ?? 0);
    sessions = sessions - Math.max(0, prefix.connections - ignoredConnections);
  }
  return Math.max(0, sessions);
}

/** `admin`: the listener of Envoy's admin interface, whose statistics include the manager's requests. */
type ListenerKind = "counted" | "ignored" | "admin";

type Listener = {
  readonly kind: ListenerKind;
  readonly port: number;
};

/** Istio's virtualInbound listener. */
const ISTIO_INBOUND_PORT = 15_006;
/** Metrics and readiness listeners of Envoy Gateway. */
const GATEWAY_OWN_PORTS: readonly number[] = [19_001, 19_003];

export function listenerOf(name: string, settings: DrainSettings): Listener {
  if (name === "admin") return { kind: "admin", port: -1 };
  // Internal listeners do not have a socket. A name that starts with a slash is the path of a Unix socket.
  if (name.startsWith("envoy_internal_") || name.startsWith("/")) return { kind: "ignored", port: -1 };
  const separatorAt = name.lastIndexOf("_");
  const address = addressIn(name.slice(0, Math.max(0, separatorAt)));
  const port = separatorAt < 0 ? "" : name.slice(separatorAt + 1);
  // A custom stat_prefix does not contain an address. The driver istio counts only the inbound listener. The driver envoy counts a listener
  // without an address too, which at most lengthens the drain.
  if (address === "" || !/^[0-9]{1,5}$/.test(port))
    return { kind: settings.driver === "istio" ? "ignored" : "counted", port: -1 };
  const counted = isReachable(address, settings.addressScope) && isDrained(Number(port), settings);
  return { kind: counted ? "counted" : "ignored", port: Number(port) };
}

function isDrained(port: number, settings: DrainSettings): boolean {
  if (settings.driver === "istio") return port === ISTIO_INBOUND_PORT;
  if (port === settings.port || isMeshPort(port) || settings.ignorePorts.includes(port)) return false;
  if (settings.drainPorts.length > 0) return settings.drainPorts.includes(port);
  return !GATEWAY_OWN_PORTS.includes(port);
}

function isReachable(address: string, scope: string): boolean {
  if (scope !== "") return address === scope || isAnyAddress(address);
  return !isLoopbackAddress(address);
}

/** Envoy's statistics contain `_` instead of `:`, such as `[__1]` for `[::1]`. @returns "" for a text that is not an address */
function addressIn(text: string): string {
  if (/^[0-9]{1,3}(\.[0-9]{1,3}){3}$/.test(text)) return text;
  if (!/^\[[0-9a-fA-F_.]+\]$/.test(text)) return "";
  return text
    .slice(1, text.length - 1)
    .split("_")
    .join(":");
}
