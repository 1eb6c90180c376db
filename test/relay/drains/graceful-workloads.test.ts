/** Tests which workloads count as graceful after the stops of their Pods. */
import { expect, test } from "vitest";
import type { RecordedOutcome } from "../../../src/drain-history/drain-record.ts";
import { CLEAN_STOPS, createGracefulWorkloads } from "../../../src/relay/drains/graceful-workloads.ts";
import { someReport } from "../../drain-history/some-drain.ts";

const WEB = { namespace: "shop", ownerKind: "ReplicaSet", ownerName: "web-7d9f" };

type Stop = {
  readonly uid: string;
  readonly stopping?: number;
  readonly probes?: number;
  readonly stoppingMs?: number;
  readonly outcome?: RecordedOutcome;
};

const recordedStopOf = (stop: Stop, owner = WEB) => {
  const { uid, stopping = 0, probes = 0, stoppingMs = 900, outcome = "handed-over" } = stop;
  return { ...owner, uid, report: { ...someReport(), outcome, resets: { draining: 5, stopping, probes, stoppingMs } } };
};

function recordStops(stops: readonly Stop[]) {
  const workloads = createGracefulWorkloads();
  const changes = stops.map((stop) => workloads.recordStop(recordedStopOf(stop)));
  return { workloads, changes, isGraceful: workloads.isGraceful(WEB) };
}

const createCleanStops = (count: number): readonly Stop[] =>
  Array.from({ length: count }, (_, index) => ({ uid: `${index}` }));

test("a workload is graceful after three Pods with the outcome handed-over that did not reset a connection", () => {
  expect(recordStops(createCleanStops(CLEAN_STOPS - 1)).isGraceful).toBe(false);
  const { isGraceful, changes } = recordStops(createCleanStops(CLEAN_STOPS + 1));
  expect([isGraceful, changes]).toEqual([true, [false, false, true, false]]);
});

test("a workload is not graceful after one reset until three more Pods stop without resets", () => {
  const { workloads, changes } = recordStops([...createCleanStops(CLEAN_STOPS), { uid: "reset", stopping: 1 }]);
  expect([workloads.isGraceful(WEB), changes.at(-1)]).toEqual([false, true]);
  for (const uid of ["a", "b"]) workloads.recordStop(recordedStopOf({ uid }));
  expect(workloads.isGraceful(WEB)).toBe(false);
  workloads.recordStop(recordedStopOf({ uid: "c" }));
  expect(workloads.isGraceful(WEB)).toBe(true);
});

const EXPLAINABLE_RESETS = { stopping: 1, probes: 1 };

test("resets that probes can explain do not change the result after a fast stop", () => {
  expect(
    recordStops([...createCleanStops(CLEAN_STOPS), { uid: "fast", ...EXPLAINABLE_RESETS, stoppingMs: 999 }]).isGraceful,
  ).toBe(true);
  const stops = [...createCleanStops(CLEAN_STOPS - 1), { uid: "fast", ...EXPLAINABLE_RESETS, stoppingMs: 999 }];
  expect(recordStops(stops).isGraceful).toBe(false);
});

test("resets that probes can explain do not count after a stop of a second or longer", () => {
  const slowStops = createCleanStops(CLEAN_STOPS).map(({ uid }) => ({ uid, ...EXPLAINABLE_RESETS, stoppingMs: 1_000 }));
  expect(recordStops(slowStops).isGraceful).toBe(true);
  expect(recordStops([...slowStops, { uid: "more", stopping: 3, probes: 2, stoppingMs: 2_100 }]).isGraceful).toBe(
    false,
  );
});

test("repeated reports of one Pod count once", () => {
  expect(recordStops([{ uid: "a" }, { uid: "a" }, { uid: "b" }, { uid: "a" }, { uid: "b" }]).isGraceful).toBe(false);
});

test.for<RecordedOutcome>(["drained", "timeout", "blind", "forced", "not-needed"])(
  "a Pod without resets does not count after the outcome %s, because it may have stopped without clients",
  (outcome) => {
    expect(recordStops(createCleanStops(CLEAN_STOPS).map((stop) => ({ ...stop, outcome }))).isGraceful).toBe(false);
    expect(recordStops([...createCleanStops(CLEAN_STOPS), { uid: "other", outcome }]).isGraceful).toBe(true);
    expect(recordStops([...createCleanStops(CLEAN_STOPS), { uid: "other", outcome, stopping: 1 }]).isGraceful).toBe(
      false,
    );
  },
);

test("a report without the field `resets` does not change whether a workload is graceful", () => {
  const { workloads } = recordStops(createCleanStops(CLEAN_STOPS));
  expect(workloads.recordStop({ ...WEB, uid: "first", report: someReport() })).toBe(false);
  expect(workloads.isGraceful(WEB)).toBe(true);
});

test.for([
  ["do not make", "another namespace", { namespace: "bank" }],
  ["do not make", "another workload", { ownerName: "cart-7d9f" }],
  ["do not make", "a workload of another kind", { ownerKind: "StatefulSet" }],
  ["make", "another ReplicaSet of the same Deployment", { ownerName: "web-5c6bf8d4" }],
  ["do not make", "a ReplicaSet whose name does not end in a hash", { ownerName: "web-api" }],
] as const)(
  "three Pods of a ReplicaSet that stopped without resetting a connection %s %s graceful",
  ([verb, , owner]) => {
    expect(recordStops(createCleanStops(CLEAN_STOPS)).workloads.isGraceful({ ...WEB, ...owner })).toBe(verb === "make");
  },
);

test("Pods without an owner are never a graceful workload", () => {
  const workloads = createGracefulWorkloads();
  const owner = { ...WEB, ownerKind: "", ownerName: "" };
  for (const stop of createCleanStops(CLEAN_STOPS)) workloads.recordStop(recordedStopOf(stop, owner));
  expect(workloads.isGraceful(owner)).toBe(false);
});

test("beyond the limit of workloads, the workload whose last Pod stopped first is removed", () => {
  const workloads = createGracefulWorkloads(2);
  const owners = ["a", "b", "c"].map((ownerName) => ({ ...WEB, ownerKind: "StatefulSet", ownerName }));
  for (const owner of owners.slice(0, 2))
    for (const stop of createCleanStops(CLEAN_STOPS)) workloads.recordStop(recordedStopOf(stop, owner));
  for (const owner of [owners[0] ?? WEB, owners[2] ?? WEB])
    workloads.recordStop(recordedStopOf({ uid: "last" }, owner));
  expect(owners.map(workloads.isGraceful)).toEqual([true, false, false]);
});
