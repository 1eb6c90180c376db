/** Tests `lastcall verify` against a cluster that is reached over TLS. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { terminatedPods } from "../../../src/cli/verify/verification.ts";
import type { ResetsReport } from "../../../src/contract/drain-report.ts";
import type { DrainRecord } from "../../../src/drain-history/drain-record.ts";
import { runningReport, someDrain, someReport } from "../../drain-history/some-drain.ts";
import { createFakeCluster, type FakeCluster, type FakePod, type Replica } from "../drains/fake-cluster.ts";
import { NOW_MS, portsOf } from "../drains/run-on-cluster.ts";
import { type CommandResult, lastcall } from "../run-lastcall.ts";

let cluster: FakeCluster;
let replica: Replica;
beforeEach(async () => {
  cluster = await createFakeCluster();
  replica = await cluster.addReplica("lastcall-webhook-a", []);
  setDeployment({});
  cluster.objects.set("/apis/apps/v1/namespaces/shop/replicasets", { items: [OLD_REPLICA_SET, NEW_REPLICA_SET] });
  cluster.pods.push(createWebPod("web-2-a"));
});
afterEach(() => cluster.close());

const createReplicaSet = (name: string, minutesAgo: number) => ({
  metadata: {
    name,
    creationTimestamp: new Date(NOW_MS - minutesAgo * 60_000).toISOString(),
    ownerReferences: [{ kind: "Deployment", name: "web" }],
  },
});
const OLD_REPLICA_SET = createReplicaSet("web-1", 600);
const NEW_REPLICA_SET = createReplicaSet("web-2", 5);

function setDeployment(status: object): void {
  cluster.objects.set("/apis/apps/v1/namespaces/shop/deployments/web", {
    kind: "Deployment",
    metadata: { generation: 2 },
    spec: { replicas: 1 },
    status: { observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1, ...status },
  });
}

function createWebPod(
  name: string,
  changes: Partial<FakePod["metadata"]> = {},
  containers = ["app", "lastcall"],
): FakePod {
  return {
    metadata: {
      name,
      namespace: "shop",
      labels: {},
      uid: `uid-${name}`,
      ownerReferences: [{ kind: "ReplicaSet", name: name.slice(0, 5) }],
      ...changes,
    },
    spec: { containers: containers.map((container) => ({ name: container })) },
    status: { phase: "Running" },
  };
}

function createEndedDrain(
  pod: string,
  resets: Partial<ResetsReport> | undefined,
  changes: Partial<DrainRecord> = {},
): DrainRecord {
  const allResets = { draining: 0, stopping: 0, probes: 0, stoppingMs: 40, ...resets };
  return someDrain({
    id: pod,
    pod,
    uid: `uid-${pod}`,
    ownerName: "web-1",
    endedAtMs: NOW_MS - 60_000,
    report: someReport({ resets: resets === undefined ? undefined : allResets }),
    ...changes,
  });
}

/** @param steps functions that run in order, one in each pause of the command; later pauses only advance the clock */
async function verify(args: readonly string[] = [], steps: readonly (() => unknown)[] = []): Promise<CommandResult> {
  let nowMs = NOW_MS;
  const remainingSteps = [...steps];
  const sleep = async (ms: number): Promise<void> => {
    nowMs += ms;
    await remainingSteps.shift()?.();
  };
  const ports = portsOf(cluster, { nowMs: () => nowMs, sleep });
  return lastcall(["verify", "deployment/web", "-n", "shop", ...args], {}, undefined, ports);
}

describe("the command verify passes", () => {
  test("if no terminated Pod cut a connection", async () => {
    replica.add(createEndedDrain("web-1-a", {}));
    replica.add(createEndedDrain("web-1-b", { stoppingMs: 1_240 }));
    expect(await verify()).toEqual({
      status: 0,
      err: "",
      out: [
        "POD      OUTCOME  TOOK  STOP  RESULT",
        "web-1-b  drained  7.3s  1.2s  cut 0 connections",
        "web-1-a  drained  7.3s  40ms  cut 0 connections",
        "deployment/web: 2 Pods terminated and did not cut a connection",
        "",
      ].join("\n"),
    });
  });

  test("if no Pod ended", async () => {
    expect(await verify()).toEqual({
      status: 0,
      err: "",
      out: "deployment/web: 0 Pods terminated and did not cut a connection\n",
    });
  });

  test("if only Pods of earlier rollouts or other workloads cut connections, or a container restarted", async () => {
    replica.add(createEndedDrain("web-1-a", {}));
    replica.add(createEndedDrain("web-0-x", { stopping: 3 }, { endedAtMs: NOW_MS - 3_600_000 }));
    replica.add(createEndedDrain("api-1-a", { stopping: 3 }, { ownerName: "api-1" }));
    replica.add(
      createEndedDrain("web-2-a", undefined, { report: someReport({ outcome: "restarted" }), ownerName: "web-2" }),
    );
    expect(await verify()).toMatchObject({
      status: 0,
      out: expect.stringContaining("1 Pod terminated and did not cut a connection"),
    });
    expect(await verify(["--since", "2h"])).toMatchObject({
      status: 1,
      out: expect.stringContaining("2 Pods terminated"),
    });
  });

  test("with --allow-probes if probes explain all cut connections", async () => {
    replica.add(createEndedDrain("web-1-a", { stopping: 2, probes: 2 }));
    const { status, out } = await verify();
    expect(status).toBe(1);
    expect(out).toContain("cut at most 2 connections, of which 2 may be probes of the kubelet");
    expect(await verify(["--allow-probes"])).toMatchObject({ status: 0 });
  });
});

describe("the command verify fails", () => {
  test("if a Pod may have cut a connection", async () => {
    replica.add(createEndedDrain("web-1-a", { stopping: 1 }));
    replica.add(createEndedDrain("web-1-b", {}));
    const { status, out } = await verify();
    expect(status).toBe(1);
    expect(out).toContain("web-1-a  drained  7.3s  40ms  cut at most 1 connection\n");
    expect(out).toContain("deployment/web: 2 Pods terminated; 1 of them may have cut connections\n");
  });

  test("if a Pod did not report its end", async () => {
    replica.add(createEndedDrain("web-1-a", undefined));
    const { status, out } = await verify();
    expect(status).toBe(1);
    expect(out).toContain(
      "web-1-a  drained  7.3s  –     no relay replica has a report of the connections that the Pod cut\n",
    );
    expect(out).toContain("deployment/web: 1 Pod terminated; the result of 1 of them is unknown\n");
  });

  test("if a Pod that was terminating did not report its drain", async () => {
    cluster.pods.push(createWebPod("web-1-z", { deletionTimestamp: "2026-11-18T00:00:00Z" }));
    const { status, out } = await verify([], [() => cluster.pods.pop()]);
    expect(status).toBe(1);
    expect(out).toContain("web-1-z  –        –     –     no relay replica has a report of the Pod's drain\n");
  });

  test("and prints the result as JSON if --json is set", async () => {
    replica.add(createEndedDrain("web-1-a", { stopping: 1 }));
    const { status, out } = await verify(["--json"]);
    expect(status).toBe(1);
    expect(JSON.parse(out)).toEqual({
      version: 1,
      workload: "deployment/web",
      namespace: "shop",
      passed: false,
      pods: [
        {
          pod: "web-1-a",
          uid: "uid-web-1-a",
          result: "cut",
          reason: "cut at most 1 connection",
          outcome: "drained",
          resets: { draining: 0, stopping: 1, probes: 0, stoppingMs: 40 },
        },
      ],
    });
  });
});

describe("the command verify waits", () => {
  test("for the rollout, its terminating Pods, and their last reports", async () => {
    setDeployment({ updatedReplicas: 0 });
    const { status, out } = await verify(
      [],
      [
        () => {
          setDeployment({});
          cluster.pods.push(createWebPod("web-1-a", { deletionTimestamp: "2026-11-18T00:00:00Z" }));
        },
        () => replica.add(createEndedDrain("web-1-a", undefined)),
        () => cluster.pods.pop(),
        () => replica.add(createEndedDrain("web-1-a", {})),
      ],
    );
    expect({ status, out }).toMatchObject({
      status: 0,
      out: expect.stringContaining("1 Pod terminated and did not cut a connection"),
    });
  });

  test("longer for a terminating Pod than for a late report", async () => {
    cluster.pods.push(createWebPod("web-1-a", { deletionTimestamp: "2026-11-18T00:00:00Z" }));
    const steps = Array.from({ length: 20 }, () => () => undefined);
    const { status } = await verify(
      [],
      [...steps, () => cluster.pods.pop(), () => replica.add(createEndedDrain("web-1-a", {}))],
    );
    expect(status).toBe(0);
  });

  test("no longer than --timeout, and exits with 2", async () => {
    setDeployment({ updatedReplicas: 0 });
    expect(await verify(["--timeout", "20s"])).toEqual({
      status: 2,
      out: "",
      err: "error: deployment/web: the rollout is not complete: 0 of 1 Pods are updated\n",
    });
  });
});

describe("the command verify exits with 2 and a message", () => {
  test("if the workload does not exist", async () => {
    cluster.objects.delete("/apis/apps/v1/namespaces/shop/deployments/web");
    const { status, err } = await verify();
    expect({ status, err }).toEqual({
      status: 2,
      err: "error: cannot read deployment/web in namespace shop: 404, not found\n",
    });
  });

  test("if Pods of the workload are not injected", async () => {
    cluster.pods.push(createWebPod("web-2-b", {}, ["app"]));
    const { status, err } = await verify();
    expect(status).toBe(2);
    expect(err).toBe(
      "error: 1 of 2 Pods of deployment/web are not injected, so the next rollout cannot be verified; run lastcall explain for the reason\n",
    );
  });

  test("if no replica returned its drains", async () => {
    await replica.stop();
    const { status, err } = await verify();
    expect(status).toBe(2);
    expect(err).toContain("error: no lastcall replica at https://127.0.0.1");
  });

  test("if the argument is not a workload", async () => {
    const { status, err } = await lastcall(["verify", "deploymnt/web"], {}, undefined, portsOf(cluster));
    expect(status).toBe(2);
    expect(err).toContain('did you mean "deployment"?');
  });
});

test("a running drain does not count as the end of its Pod", () => {
  const runningDrain = someDrain({ uid: "u-1", report: runningReport() });
  expect(terminatedPods([runningDrain], new Map())).toEqual([]);
  const endedDrain = someDrain({ uid: "u-1", endedAtMs: runningDrain.endedAtMs - 1 });
  expect(terminatedPods([runningDrain, endedDrain], new Map()).map(({ record }) => record)).toEqual([endedDrain]);
});
