/** Tests which Pods belong to a workload, and when its rollout is complete. */
import { describe, expect, test } from "vitest";
import {
  newestCreationMs,
  parseWorkload,
  podOwners,
  podsOf,
  rolloutProgress,
} from "../../../src/cli/verify/workload.ts";

function workloadOf(text: string) {
  const reading = parseWorkload(text);
  if (!reading.ok) throw new Error(reading.message);
  return reading.workload;
}

function createOwnedObject(name: string, kind: string, owner: string, createdAt = "2026-11-26T10:00:00Z") {
  return { metadata: { name, creationTimestamp: createdAt, ownerReferences: [{ kind, name: owner }] } };
}

describe("a workload", () => {
  test.for(["deployment/web", "deployments/web", "deploy/web", "Deployment/web", "DEPLOY/web"])(
    "can be written as %s",
    (text) => {
      expect(workloadOf(text)).toMatchObject({ text, kind: "Deployment", name: "web", resource: "deployments" });
    },
  );

  test("can be of a custom kind such as Rollout, whose Pods belong to its ReplicaSets", () => {
    const rollout = workloadOf("Rollout/web");
    expect(rollout).toMatchObject({ kind: "Rollout", name: "web", resource: undefined });
    const owners = podOwners(rollout, [
      createOwnedObject("web-1", "Rollout", "web"),
      createOwnedObject("other-1", "Rollout", "other"),
    ]);
    expect([...owners]).toEqual(["Rollout/web", "ReplicaSet/web-1"]);
  });

  test.for([
    { text: "web", message: '"web" is not TYPE/NAME, such as deployment/web' },
    { text: "deployment/", message: '"deployment/" is not TYPE/NAME, such as deployment/web' },
    { text: "deployment/web/x", message: '"deployment/web/x" is not TYPE/NAME, such as deployment/web' },
    { text: "deployment/../web", message: '"deployment/../web" is not TYPE/NAME, such as deployment/web' },
    { text: "deploymnt/web", message: '"deploymnt" is not a type of workload; did you mean "deployment"?' },
    {
      text: "volumes/web",
      message:
        '"volumes" is not a type of workload; use one of deployment, deploy, statefulset, sts, daemonset, ds, replicaset, rs, or a kind such as Rollout',
    },
  ])("is refused with a remedy if it is written as $text", ({ text, message }) => {
    expect(parseWorkload(text)).toEqual({ ok: false, message });
  });

  test("owns only the Pods of its ReplicaSets", () => {
    const owners = podOwners(workloadOf("deploy/web"), [
      createOwnedObject("web-1", "Deployment", "web"),
      createOwnedObject("web-2", "Deployment", "web"),
      createOwnedObject("api-1", "Deployment", "api"),
    ]);
    const pods = [
      createOwnedObject("a", "ReplicaSet", "web-1"),
      createOwnedObject("b", "ReplicaSet", "api-1"),
      createOwnedObject("c", "StatefulSet", "web"),
      { metadata: { name: "d" } },
    ];
    expect(podsOf(owners, pods)).toEqual([pods[0]]);
  });

  test("is as new as its newest revision", () => {
    const revisions = [
      createOwnedObject("web-1", "Deployment", "web", "2026-11-26T10:00:00Z"),
      createOwnedObject("web-2", "Deployment", "web", "2026-11-26T11:00:00Z"),
      createOwnedObject("web-3", "Deployment", "web", "invalid"),
    ];
    expect(newestCreationMs(revisions)).toBe(Date.parse("2026-11-26T11:00:00Z"));
    expect(newestCreationMs([])).toBeUndefined();
  });
});

const DEPLOYMENT = {
  kind: "Deployment",
  metadata: { generation: 4 },
  spec: { replicas: 3 },
  status: { observedGeneration: 4, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
};
const DAEMON_SET = {
  kind: "DaemonSet",
  metadata: { generation: 2 },
  status: { observedGeneration: 2, desiredNumberScheduled: 5, updatedNumberScheduled: 5, numberAvailable: 5 },
};
const STATEFUL_SET = { ...DEPLOYMENT, kind: "StatefulSet" };

describe("a rollout is complete", () => {
  test.for([
    { title: "of a Deployment", object: DEPLOYMENT },
    { title: "of a DaemonSet", object: DAEMON_SET },
    { title: "of a StatefulSet", object: STATEFUL_SET },
    {
      title: "of a StatefulSet up to its partition",
      object: {
        ...STATEFUL_SET,
        spec: { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } },
        status: { ...DEPLOYMENT.status, updatedReplicas: 1 },
      },
    },
    {
      title: "of a ReplicaSet",
      object: {
        ...DEPLOYMENT,
        kind: "ReplicaSet",
        status: { observedGeneration: 4, replicas: 3, availableReplicas: 3 },
      },
    },
    {
      title: "of a Deployment with 0 replicas",
      object: { ...DEPLOYMENT, spec: { replicas: 0 }, status: { observedGeneration: 4 } },
    },
  ])("$title", ({ object }) => {
    expect(rolloutProgress(object)).toBe("");
  });
});

describe("a rollout is not complete while", () => {
  const deploymentWith = (status: object) => ({ ...DEPLOYMENT, status: { ...DEPLOYMENT.status, ...status } });
  test.for([
    {
      object: deploymentWith({ observedGeneration: 3 }),
      progress: "the workload's controller has not observed the latest change",
    },
    { object: deploymentWith({ updatedReplicas: 1 }), progress: "1 of 3 Pods are updated" },
    { object: deploymentWith({ replicas: 4 }), progress: "1 old Pods are left" },
    { object: deploymentWith({ availableReplicas: 2 }), progress: "2 of 3 Pods are available" },
    {
      object: { ...DAEMON_SET, status: { ...DAEMON_SET.status, updatedNumberScheduled: 2 } },
      progress: "2 of 5 Pods are updated",
    },
    { object: {}, progress: "0 of 1 Pods are updated" },
  ])("$progress", ({ object, progress }) => {
    expect(rolloutProgress(object)).toBe(progress);
  });
});
