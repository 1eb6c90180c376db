/** Combines HTTP statistics by stat prefix: a prefix can belong to several listeners, and a listener can have several. Pure. */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import { isAnyAddress, isLoopbackAddress } from "../../sockets/address-text.ts";
import { isMeshPort } from "../../traffic/other-processes.ts";

/** Missing numbers are -1. */
export type Prefix = {
  requests: number;
  connections: number;
  upgrades: number;
  counted: boolean;
  ignoredBy: string[];
};

export function prefixNamed(prefixes: Map<string, Prefix>, name: string): Prefix {
  const known = prefixes.get(name);
  if (known !== undefined) return known;
  const fresh: Prefix = { requests: -1, connections: -1, upgrades: -1, counted: false, ignoredBy: [] };
  prefixes.set(name, fresh);
  return fresh;
}

/** A prefix without a known listener counts, since nothing proves that it is irrelevant. */
function isCounted(prefix: Prefix): boolean {
  return prefix.counted || prefix.ignoredBy.length === 0;
}

/** An upgraded connection is one active request until its end; if the gauges differ, the larger counts. */
export function activeRequests(prefixes: Map<string, Prefix>): number {
  let active = 0;
  for (const prefix of prefixes.values()) {
    if (isCounted(prefix)) active = active + Math.max(0, prefix.requests, prefix.upgrades);
  }
  return active;
}

/**
 * Non-HTTP connections of counted listeners, for which Envoy has no gauge. The gauges are not read atomically, so a negative
 * difference means zero.
 *
 * @param ignored connections of ignored listeners, which are subtracted from prefixes on both kinds
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

/** `admin`: Envoy's own interface, whose statistics include the manager's requests. */
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
  // Internal listeners have no socket; paths are Unix sockets.
  if (name.startsWith("envoy_internal_") || name.startsWith("/")) return { kind: "ignored", port: -1 };
  const cut = name.lastIndexOf("_");
  const address = addressIn(name.slice(0, Math.max(0, cut)));
  const port = cut < 0 ? "" : name.slice(cut + 1);
  // A custom name: counting it is the safe choice.
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

/** Statistics write `_` for `:`, such as `[__1]` for `[::1]`. @returns "" for a text that is not an address */
function addressIn(text: string): string {
  if (/^[0-9]{1,3}(\.[0-9]{1,3}){3}$/.test(text)) return text;
  if (!/^\[[0-9a-fA-F_.]+\]$/.test(text)) return "";
  return text
    .slice(1, text.length - 1)
    .split("_")
    .join(":");
}
