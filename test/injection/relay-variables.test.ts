/** Tests the relay's variables in a Pod: after one or two injections, in a copied Pod, and after an uninjection. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { IssueRelayAccess, RelayAccess, RelayAccessRequest } from "../../src/contract/relay-access.ts";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { arbitraryPod } from "./arbitrary-pod.ts";
import { inject, injectedPodOf } from "./injector-inputs.ts";

type EnvironmentVariable = { readonly name: string; readonly value?: string; readonly valueFrom?: unknown };
type Manager = { readonly name: string; env: EnvironmentVariable[] };

const OWNER = { kind: "ReplicaSet", name: "web-5d9", uid: "uid-5d9" };
const WEB = {
  metadata: {
    name: "web-0",
    ownerReferences: [
      { kind: "ConfigMap", name: "other", uid: "uid-other" },
      { ...OWNER, controller: true },
    ],
  },
  spec: { terminationGracePeriodSeconds: 30, containers: [{ name: "app", image: "app:1" }] },
};

/** Fakes the relay. A credential is a namespace and a number; a Pod's existing credential for the requested namespace stays. */
function createFakeRelay(generation = "a1"): { issue: IssueRelayAccess; requests: RelayAccessRequest[] } {
  const requests: RelayAccessRequest[] = [];
  const issue: IssueRelayAccess = (request) => {
    requests.push(request);
    const existing = request.existingAccess?.credential;
    return {
      address: "10.96.0.7:443",
      serverName: `relay-${generation}.lastcall.internal`,
      ca: `ca-of-${generation}`,
      credential:
        existing?.startsWith(`${request.namespace}/`) === true ? existing : `${request.namespace}/${requests.length}`,
    };
  };
  return { issue, requests };
}

function managerOf(pod: object): Manager {
  const { spec } = pod as { readonly spec: Record<string, readonly Manager[] | undefined> };
  const containers = [...(spec["initContainers"] ?? []), ...(spec["containers"] ?? [])];
  const manager = containers.find((container) => container.name === "lastcall");
  if (manager === undefined) throw new Error("there is no manager");
  return manager;
}

function variablesOf(pod: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(managerOf(pod).env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]));
}

const inputsWithRelay = (issue: IssueRelayAccess) => ({ request: { issueRelayAccess: issue } });

const NEW_TOKEN = "e".repeat(32);

const RELAY_VARIABLES = {
  LASTCALL_RELAY_ADDRESS: "10.96.0.7:443",
  LASTCALL_RELAY_NAME: "relay-a1.lastcall.internal",
  LASTCALL_RELAY_CA: "ca-of-a1",
  LASTCALL_RELAY_CREDENTIAL: "shop/1",
  POD_IPS: { fieldRef: { fieldPath: "status.podIPs" } },
};

describe("injection with a relay", () => {
  test("sets the relay's address, name and CA, a credential, and the Pod's addresses in the manager", () => {
    const { issue, requests } = createFakeRelay();
    expect(variablesOf(injectedPodOf(WEB, inputsWithRelay(issue)))).toMatchObject(RELAY_VARIABLES);
    expect(requests).toEqual([
      { namespace: "shop", ownerKind: OWNER.kind, ownerName: OWNER.name, ownerUid: OWNER.uid, existing: undefined },
    ]);
  });

  test("is idempotent, because the relay receives and returns the existing credential", () => {
    const { issue, requests } = createFakeRelay();
    const first = injectedPodOf(WEB, inputsWithRelay(issue));
    expect(inject(first, inputsWithRelay(issue))).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
    const existing: RelayAccess | undefined = requests[1]?.existingAccess;
    expect(existing).toEqual({
      address: RELAY_VARIABLES.LASTCALL_RELAY_ADDRESS,
      serverName: RELAY_VARIABLES.LASTCALL_RELAY_NAME,
      ca: RELAY_VARIABLES.LASTCALL_RELAY_CA,
      credential: RELAY_VARIABLES.LASTCALL_RELAY_CREDENTIAL,
    });
  });

  test("adds only the relay's variables to a Pod whose manager is older than the relay", () => {
    const firstPod = injectedPodOf(WEB);
    const secondPod = injectedPodOf(firstPod, inputsWithRelay(createFakeRelay().issue));
    const names = Object.keys(variablesOf(firstPod));
    expect(Object.keys(variablesOf(secondPod))).toEqual([
      ...names,
      "POD_IPS",
      ...Object.keys(RELAY_VARIABLES).slice(0, 4),
    ]);
    const podWithoutRelay = structuredClone(secondPod);
    managerOf(podWithoutRelay).env = managerOf(podWithoutRelay).env.filter(({ name }) => names.includes(name));
    expect(podWithoutRelay).toEqual(firstPod);
  });

  test("replaces only the credential and the hook token of a Pod copied from another namespace", () => {
    const { issue } = createFakeRelay();
    const copiedPod = injectedPodOf(WEB, { request: { namespace: "elsewhere", issueRelayAccess: issue } });
    const outcome = inject(copiedPod, { ...inputsWithRelay(issue), token: NEW_TOKEN });
    expect(outcome).toMatchObject({ kind: "patched" });
    if (outcome.kind !== "patched") return;
    expect(variablesOf(outcome.pod)).toEqual({
      ...variablesOf(copiedPod),
      LASTCALL_TOKEN: NEW_TOKEN,
      LASTCALL_RELAY_CREDENTIAL: "shop/2",
    });
    expect(outcome.patch.every(({ op }) => op === "replace")).toBe(true);
  });

  test("replaces a hook token from a manifest once, in the manager and in the hooks", () => {
    const { issue } = createFakeRelay();
    const manifestPod = injectedPodOf(WEB);
    const admittedPod = injectedPodOf(manifestPod, { ...inputsWithRelay(issue), token: NEW_TOKEN });
    expect(variablesOf(admittedPod)).toMatchObject({ LASTCALL_TOKEN: NEW_TOKEN });
    const manifestToken = String(variablesOf(manifestPod)["LASTCALL_TOKEN"]);
    expect(JSON.stringify(manifestPod)).toContain(`/${manifestToken}/prestop/app`);
    expect(JSON.stringify(admittedPod)).toContain(`/${NEW_TOKEN}/prestop/app`);
    expect(JSON.stringify(admittedPod)).not.toContain(manifestToken);
    expect(inject(admittedPod, inputsWithRelay(issue))).toMatchObject({ reason: "up_to_date" });
  });

  test("replaces an earlier CA and does not change the credential", () => {
    const oldPod = injectedPodOf(WEB, inputsWithRelay(createFakeRelay("a0").issue));
    const newPod = injectedPodOf(oldPod, inputsWithRelay(createFakeRelay("a1").issue));
    expect(variablesOf(newPod)).toMatchObject(RELAY_VARIABLES);
  });

  test("does not request a credential for the relay in sleep mode, which does not use a manager", () => {
    const { issue, requests } = createFakeRelay();
    const pod = { ...WEB, metadata: { ...WEB.metadata, annotations: { "lastcall.dev/mode": "sleep" } } };
    expect(inject(pod, inputsWithRelay(issue))).toMatchObject({ kind: "patched", mode: "sleep" });
    expect(requests).toEqual([]);
  });

  test("does not add an owner to the credential without a valid reference to a controller", () => {
    for (const ownerReferences of [null, "x", [null, 7], [{ ...OWNER }], [{ controller: true, kind: 7 }]]) {
      const { issue, requests } = createFakeRelay();
      inject({ ...WEB, metadata: { ownerReferences } }, inputsWithRelay(issue));
      expect(requests).toMatchObject([{ ownerKind: "", ownerName: "", ownerUid: "" }]);
    }
  });
});

describe("injection without a relay", () => {
  test("does not change existing relay variables", () => {
    const pod = injectedPodOf(WEB, inputsWithRelay(createFakeRelay().issue));
    expect(inject(pod, { token: NEW_TOKEN })).toMatchObject({ reason: "up_to_date" });
    expect(
      inject(
        pod,
        inputsWithRelay(() => undefined),
      ),
    ).toMatchObject({ reason: "up_to_date" });
  });

  test("does not change the relay variables of a manager that moves to another list of containers because its mode changed", () => {
    const nativePod = injectedPodOf(WEB, inputsWithRelay(createFakeRelay().issue));
    const annotations = { "lastcall.dev/mode": "classic" };
    const { metadata } = nativePod as { readonly metadata: { readonly annotations: object } };
    const classicPod = {
      ...nativePod,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
    };
    expect(variablesOf(injectedPodOf(classicPod))).toMatchObject(RELAY_VARIABLES);
  });
});

test("for any Pod and relay, a second injection does not change the Pod and an uninjection restores the original", {
  timeout: 120_000,
}, () => {
  let patchedCount = 0;
  fc.assert(
    fc.property(arbitraryPod, (pod) => {
      const { issue, requests } = createFakeRelay();
      const first = inject(pod, inputsWithRelay(issue));
      expect(requests.length).toBeLessThanOrEqual(1);
      if (first.kind !== "patched") return;
      patchedCount += 1;
      expect(inject(first.pod, { ...inputsWithRelay(issue), token: "f".repeat(32) })).toMatchObject({
        reason: "up_to_date",
      });
      expect(inject(first.pod, { token: "f".repeat(32) })).toMatchObject({ reason: "up_to_date" });
      expect(uninjectPod(first.pod)).toStrictEqual({ kind: "uninjected", pod });
    }),
    { numRuns: 400 },
  );
  expect(patchedCount).toBeGreaterThan(130);
});
