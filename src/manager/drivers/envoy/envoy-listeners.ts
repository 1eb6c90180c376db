/** Which of Envoy's listeners carry traffic that has to be waited for, by their exact names in the statistics. Pure. */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import { isAnyAddress, isLoopbackAddress } from "../../sockets/address-text.ts";
import { isMeshPort } from "../../traffic/neighbours.ts";

/** `admin`: Envoy's own interface, where our questions show up. */
export type ListenerKind = "counted" | "ignored" | "admin";

export type Listener = {
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
