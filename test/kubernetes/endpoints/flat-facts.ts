/**
 * Test oracle of the endpoint state, written from the EndpointSlice API and independent of the implementation. Converts all
 * endpoints to one flat list with an item per address, and computes the state from this list.
 */
import { BlockList, isIPv4, isIPv6 } from "node:net";
import type { PodIdentity } from "../../../src/kubernetes/endpoints/slice.ts";
import type { RawSlice } from "./raw-slices.ts";

type AddressEntry = {
  readonly service: unknown;
  readonly type: unknown;
  /** The target Pod's uid; `null` without a target Pod. */
  readonly uid: unknown;
  readonly address: unknown;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
};

export type ExpectedEndpointState = {
  readonly state: "in" | "out" | "unknown";
  readonly terminating: boolean;
  /** States by `service/family`. */
  readonly services: Readonly<Record<string, string>>;
};

// biome-ignore lint/suspicious/noExplicitAny: the oracle reads untyped JSON, independently of the implementation's readers
type UntypedJson = any;

export function expectedEndpointState(raws: readonly RawSlice[], pod: PodIdentity): ExpectedEndpointState {
  const podAddresses = new BlockList();
  for (const address of pod.addresses) podAddresses.addAddress(address, isIPv6(address) ? "ipv6" : "ipv4");
  const podEntries = raws.flatMap(addressEntriesOf).filter((entry) => {
    if (typeof entry.service !== "string" || entry.service === "") return false;
    return entry.uid === null ? contains(podAddresses, entry.address) : entry.uid === pod.uid;
  });
  const services: Record<string, string> = {};
  for (const entry of podEntries) {
    const key = `${entry.service}/${["IPv4", "IPv6", "FQDN"].find((type) => type === entry.type) ?? "other"}`;
    const serviceEntries = podEntries.filter((each) => each.service === entry.service && each.type === entry.type);
    const isReady = serviceEntries.some((each) => each.isReady && !each.isTerminating);
    const isHostName = entry.type === "FQDN";
    services[key] = isReady ? (isHostName ? "unknown" : "in") : "out";
  }
  const states = new Set(Object.values(services));
  return {
    state: states.has("in") ? "in" : states.has("unknown") ? "unknown" : "out",
    terminating: podEntries.some((entry) => entry.uid !== null && entry.isTerminating),
    services,
  };
}

function addressEntriesOf(raw: UntypedJson): AddressEntry[] {
  const entries: UntypedJson[] = Array.isArray(raw.endpoints) ? raw.endpoints : [];
  return entries.flatMap((entry) => {
    if (entry === null || typeof entry !== "object") return [];
    const uid = entry.targetRef?.kind === "Pod" && entry.targetRef.uid ? entry.targetRef.uid : null;
    const addresses: UntypedJson[] =
      Array.isArray(entry.addresses) && entry.addresses.length > 0 ? entry.addresses : [null];
    return addresses.map((address) => ({
      service: raw.metadata?.labels?.["kubernetes.io/service-name"],
      type: raw.addressType,
      uid,
      address,
      // Without a value `ready` counts as true, and `terminating` as false.
      isReady: entry.conditions?.ready !== false,
      isTerminating: entry.conditions?.terminating === true,
    }));
  });
}

function contains(podAddresses: BlockList, address: unknown): boolean {
  if (typeof address !== "string") return false;
  if (isIPv4(address)) return podAddresses.check(address, "ipv4");
  return isIPv6(address) && podAddresses.check(address, "ipv6");
}
