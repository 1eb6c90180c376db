/**
 * Test oracle of rotation, written from the EndpointSlice API and independent of the implementation: converts all
 * endpoints to one flat list with an item per address, and computes the rotation from it.
 */
import { BlockList, isIPv4, isIPv6 } from "node:net";
import type { PodIdentity } from "../../../src/kubernetes/rotation/rotation.ts";
import type { RawSlice } from "./raw-slices.ts";

type Fact = {
  readonly service: unknown;
  readonly type: unknown;
  /** Of the target Pod; `null` without one. */
  readonly uid: unknown;
  readonly address: unknown;
  readonly ready: boolean;
  readonly terminating: boolean;
};

export type ExpectedRotation = {
  readonly state: "in" | "out" | "unknown";
  readonly terminating: boolean;
  /** `service/family` to state. */
  readonly offers: Readonly<Record<string, string>>;
};

// biome-ignore lint/suspicious/noExplicitAny: the oracle reads the wire its own way, which is to trust nothing and cast nothing
type Wire = any;

export function expectedRotation(raws: readonly RawSlice[], pod: PodIdentity): ExpectedRotation {
  const own = new BlockList();
  for (const address of pod.addresses) own.addAddress(address, isIPv6(address) ? "ipv6" : "ipv4");
  const facts = raws.flatMap(factsOf).filter((fact) => {
    if (typeof fact.service !== "string" || fact.service === "") return false;
    return fact.uid === null ? isIn(own, fact.address) : fact.uid === pod.uid;
  });
  const offers: Record<string, string> = {};
  for (const fact of facts) {
    const key = `${fact.service}/${["IPv4", "IPv6", "FQDN"].find((type) => type === fact.type) ?? "other"}`;
    const same = facts.filter((each) => each.service === fact.service && each.type === fact.type);
    const offering = same.some((each) => each.ready && !each.terminating);
    const asName = fact.type === "FQDN";
    offers[key] = offering ? (asName ? "unknown" : "in") : "out";
  }
  const states = new Set(Object.values(offers));
  return {
    state: states.has("in") ? "in" : states.has("unknown") ? "unknown" : "out",
    terminating: facts.some((fact) => fact.uid !== null && fact.terminating),
    offers,
  };
}

function factsOf(raw: Wire): Fact[] {
  const entries: Wire[] = Array.isArray(raw.endpoints) ? raw.endpoints : [];
  return entries.flatMap((entry) => {
    if (entry === null || typeof entry !== "object") return [];
    const uid = entry.targetRef?.kind === "Pod" && entry.targetRef.uid ? entry.targetRef.uid : null;
    const addresses: Wire[] = Array.isArray(entry.addresses) && entry.addresses.length > 0 ? entry.addresses : [null];
    return addresses.map((address) => ({
      service: raw.metadata?.labels?.["kubernetes.io/service-name"],
      type: raw.addressType,
      uid,
      address,
      // nil: ready is true, terminating is false.
      ready: entry.conditions?.ready !== false,
      terminating: entry.conditions?.terminating === true,
    }));
  });
}

function isIn(own: BlockList, address: unknown): boolean {
  if (typeof address !== "string") return false;
  if (isIPv4(address)) return own.check(address, "ipv4");
  return isIPv6(address) && own.check(address, "ipv6");
}
