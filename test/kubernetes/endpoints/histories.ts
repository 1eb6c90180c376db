/**
 * Generates random histories of slices that controllers and users write, as a watch receives them with a different lag for each
 * slice.
 */
import fc from "fast-check";
import type { PodIdentity } from "../../../src/kubernetes/endpoints/slice.ts";
import { CONTROLLER, entryOf, MIRRORING, type RawSlice, type SliceFields, sliceWith, WEB_0 } from "./raw-slices.ts";

const OTHER_PODS: readonly PodIdentity[] = [
  { name: "web-1", uid: "uid-of-web-1", addresses: ["10.0.0.8", "fd00::8"] },
  // Another Pod with the same addresses, such as a later Pod that got the addresses of a deleted Pod.
  { name: "web-9", uid: "uid-of-web-9", addresses: WEB_0.addresses },
];

/** Services with two slices allow splits, merges and moves. */
const SLICES: readonly SliceFields[] = [
  { name: "web-a" },
  { name: "web-b" },
  { name: "web-v6", addressType: "IPv6" },
  { name: "api-a", service: "api" },
  { name: "peers-a", service: "peers" },
  { name: "peers-b", service: "peers" },
  { name: "web-mirrored", managedBy: MIRRORING },
  { name: "web-hand", managedBy: "people" },
  { name: "web-hand-v6", managedBy: "people", addressType: "IPv6" },
  { name: "web-names", managedBy: "people", addressType: "FQDN" },
  { name: "lost", service: undefined },
  { name: "later", service: "api", addressType: "Martian" },
];

type Write =
  | { readonly kind: "put" | "duplicate"; readonly at: number; readonly to: number; readonly entry: RawSlice }
  | { readonly kind: "drop" | "move" | "split" | "merge" | "delete"; readonly at: number; readonly to: number }
  | { readonly kind: "set-conditions"; readonly at: number; readonly to: number; readonly conditions: RawSlice };

const arbitraryCondition = fc.constantFrom(undefined, null, true, false);
const arbitraryConditions: fc.Arbitrary<RawSlice> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<RawSlice>({ ready: true, serving: true, terminating: false }, {}) },
  { weight: 3, arbitrary: fc.constant<RawSlice>({ ready: false, serving: true, terminating: true }) },
  { weight: 1, arbitrary: fc.constant<RawSlice>({ ready: true, serving: true, terminating: true }) },
  {
    weight: 3,
    arbitrary: fc.record({ ready: arbitraryCondition, serving: arbitraryCondition, terminating: arbitraryCondition }),
  },
);

const arbitraryAddress = fc.constantFrom("10.0.0.7", "fd00::7", "FD00:0:0::07", "10.0.0.8", "fd00::8", "web.example");

/** Endpoints of the Pod, endpoints of another Pod with the same address, endpoints without a target, and incomplete endpoints. */
const arbitraryEntry: fc.Arbitrary<RawSlice> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(WEB_0, WEB_0, ...OTHER_PODS), arbitraryConditions, fc.nat(1))
      .map(([pod, conditions, family]) => entryOf(pod, conditions, pod.addresses[family])),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        addresses: fc.array(arbitraryAddress, { minLength: 1, maxLength: 3 }),
        conditions: arbitraryConditions,
        targetRef: fc.constantFrom(
          null,
          {},
          { kind: "Node", uid: "u" },
          { kind: "Pod", name: "web-0" },
          { uid: WEB_0.uid },
        ),
      },
      { requiredKeys: ["addresses"] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<RawSlice>(
      {},
      { addresses: null, conditions: null },
      { addresses: [7, null, "10.0.0.7"] },
      { addresses: [], targetRef: { kind: "Pod", uid: WEB_0.uid } },
    ),
  },
);

const sliceIndex = fc.nat(SLICES.length - 1);
const arbitraryWrite: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ kind: fc.constantFrom("put", "duplicate"), at: sliceIndex, to: sliceIndex, entry: arbitraryEntry }),
  fc.record({ kind: fc.constantFrom("drop", "move", "split", "merge", "delete"), at: sliceIndex, to: sliceIndex }),
  fc.record({ kind: fc.constant("set-conditions"), at: sliceIndex, to: sliceIndex, conditions: arbitraryConditions }),
);

/** Raw slices after each step of a history. */
export const arbitraryViews: fc.Arbitrary<RawSlice[][]> = fc
  .tuple(
    fc.array(arbitraryWrite, { minLength: 1, maxLength: 25 }),
    fc.array(fc.nat(3), { minLength: 12, maxLength: 12 }),
  )
  .map(([writes, lagSteps]) => viewsOf(writes, lagSteps));

/** Endpoints by index in {@link SLICES}; `undefined` if the slice does not exist. */
type Table = readonly (readonly RawSlice[] | undefined)[];

function viewsOf(writes: readonly Write[], lags: readonly number[]): RawSlice[][] {
  const tables: Table[] = [SLICES.map(() => undefined)];
  for (const write of writes) {
    // A move takes two writes. Between the writes both slices contain the endpoint.
    for (const change of changesOf(write)) tables.push(change(tables.at(-1) ?? []));
  }
  return tables.map((_table, now) =>
    SLICES.flatMap((fields, at) => {
      const entries = tables[Math.max(0, now - (lags[at] ?? 0))]?.[at];
      return entries === undefined ? [] : [sliceWith(fields, ...entries)];
    }),
  );
}

function changesOf(write: Write): ((table: Table) => Table)[] {
  const { at, to } = write;
  const replaceEntries =
    (sliceIndex: number, entries: (table: Table) => readonly RawSlice[] | undefined) => (table: Table) =>
      table.with(sliceIndex, entries(table));
  const entriesAt = (table: Table) => table[at] ?? [];
  const entriesTo = (table: Table) => table[to] ?? [];
  switch (write.kind) {
    case "put":
      return [replaceEntries(at, (table) => [...entriesAt(table), write.entry])];
    case "duplicate":
      return [
        replaceEntries(at, (table) => [...entriesAt(table), write.entry]),
        replaceEntries(to, (table) => [...entriesTo(table), write.entry]),
      ];
    case "drop":
      return [replaceEntries(at, (table) => entriesAt(table).slice(1))];
    case "move":
      return [
        replaceEntries(to, (table) => [...entriesTo(table), ...entriesAt(table).slice(0, 1)]),
        replaceEntries(at, (table) => entriesAt(table).slice(1)),
      ];
    case "split":
      return [
        replaceEntries(to, (table) => [...entriesTo(table), ...entriesAt(table).slice(2)]),
        replaceEntries(at, (table) => entriesAt(table).slice(0, 2)),
      ];
    case "merge":
      return [
        replaceEntries(to, (table) => [...entriesTo(table), ...entriesAt(table)]),
        replaceEntries(at, () => undefined),
      ];
    case "delete":
      return [replaceEntries(at, () => undefined)];
    case "set-conditions":
      return [
        replaceEntries(at, (table) => entriesAt(table).map((entry) => ({ ...entry, conditions: write.conditions }))),
      ];
  }
}

/** A Service with a selector: its controller writes each Pod to one slice per family. */
export type ManagedService = {
  readonly publishNotReady: boolean;
  readonly families: readonly ("IPv4" | "IPv6")[];
  readonly podsPerSlice: number;
};

export type PodStatus = { readonly pod: PodIdentity; readonly isReady: boolean; readonly isDeleted: boolean };

/** Returns the slices that the controller writes, with `ready = publishNotReadyAddresses || (serving && !terminating)`. */
export function slicesOfController(name: string, service: ManagedService, pods: readonly PodStatus[]): RawSlice[] {
  return service.families.flatMap((addressType) =>
    pods.map((_first, index) => {
      const podsOfSlice = index % service.podsPerSlice === 0 ? pods.slice(index, index + service.podsPerSlice) : [];
      const entries = podsOfSlice.map(({ pod, isReady, isDeleted }) =>
        entryOf(
          pod,
          { ready: service.publishNotReady || (isReady && !isDeleted), serving: isReady, terminating: isDeleted },
          pod.addresses[addressType === "IPv4" ? 0 : 1],
        ),
      );
      return sliceWith(
        { name: `${name}-${addressType}-${index}`, service: name, managedBy: CONTROLLER, addressType },
        ...entries,
      );
    }),
  );
}
