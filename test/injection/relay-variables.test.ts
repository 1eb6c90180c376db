/** The relay's variables in a Pod: at injection, in a second pass, in a copy, and after an uninjection. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { IssueRelayAccess, RelayAccess, RelayAccessRequest } from "../../src/contract/relay-access.ts";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { arbitraryPod } from "./arbitrary-pod.ts";
import { inject, injected } from "./injector-inputs.ts";

type Entry = { readonly name: string; readonly value?: string; readonly valueFrom?: unknown };
type Manager = { readonly name: string; env: Entry[] };

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

/** A fake relay: a credential is its namespace and a number, and one of the same namespace is kept. */
function fakeRelay(generation = "a1"): { give: IssueRelayAccess; asked: RelayAccessRequest[] } {
  const asked: RelayAccessRequest[] = [];
  const give: IssueRelayAccess = (request) => {
    asked.push(request);
    const existing = request.existing?.credential;
    return {
      address: "10.96.0.7:443",
      serverName: `relay-${generation}.lastcall.internal`,
      ca: `ca-of-${generation}`,
      credential:
        existing?.startsWith(`${request.namespace}/`) === true ? existing : `${request.namespace}/${asked.length}`,
    };
  };
  return { give, asked };
}

function managerOf(pod: object): Manager {
  const { spec } = pod as { readonly spec: Record<string, readonly Manager[] | undefined> };
  const all = [...(spec["initContainers"] ?? []), ...(spec["containers"] ?? [])];
  const manager = all.find((container) => container.name === "lastcall");
  if (manager === undefined) throw new Error("there is no manager");
  return manager;
}

function variablesOf(pod: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(managerOf(pod).env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]));
}

const with_ = (give: IssueRelayAccess) => ({ request: { issueRelayAccess: give } });

const NEW_TOKEN = "e".repeat(32);

const GIVEN = {
  LASTCALL_RELAY_ADDRESS: "10.96.0.7:443",
  LASTCALL_RELAY_NAME: "relay-a1.lastcall.internal",
  LASTCALL_RELAY_CA: "ca-of-a1",
  LASTCALL_RELAY_CREDENTIAL: "shop/1",
  POD_IPS: { fieldRef: { fieldPath: "status.podIPs" } },
};

describe("injection with a relay", () => {
  test("sets the relay's address, name and CA, a credential, and the Pod's addresses in the manager", () => {
    const { give, asked } = fakeRelay();
    expect(variablesOf(injected(WEB, with_(give)))).toMatchObject(GIVEN);
    expect(asked).toEqual([
      { namespace: "shop", ownerKind: OWNER.kind, ownerName: OWNER.name, ownerUid: OWNER.uid, existing: undefined },
    ]);
  });

  test("is idempotent, since the existing credential is passed to the relay and returned", () => {
    const { give, asked } = fakeRelay();
    const first = injected(WEB, with_(give));
    expect(inject(first, with_(give))).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
    const existing: RelayAccess | undefined = asked[1]?.existing;
    expect(existing).toEqual({
      address: GIVEN.LASTCALL_RELAY_ADDRESS,
      serverName: GIVEN.LASTCALL_RELAY_NAME,
      ca: GIVEN.LASTCALL_RELAY_CA,
      credential: GIVEN.LASTCALL_RELAY_CREDENTIAL,
    });
  });

  test("adds only the relay's variables to a Pod whose manager is older than the relay", () => {
    const before = injected(WEB);
    const after = injected(before, with_(fakeRelay().give));
    const names = Object.keys(variablesOf(before));
    expect(Object.keys(variablesOf(after))).toEqual([...names, "POD_IPS", ...Object.keys(GIVEN).slice(0, 4)]);
    const stripped = structuredClone(after);
    managerOf(stripped).env = managerOf(stripped).env.filter(({ name }) => names.includes(name));
    expect(stripped).toEqual(before);
  });

  test("replaces only the credential and the token of a Pod copied from another namespace", () => {
    const { give } = fakeRelay();
    const foreign = injected(WEB, { request: { namespace: "elsewhere", issueRelayAccess: give } });
    const outcome = inject(foreign, { ...with_(give), token: NEW_TOKEN });
    expect(outcome).toMatchObject({ kind: "patched" });
    if (outcome.kind !== "patched") return;
    expect(variablesOf(outcome.pod)).toEqual({
      ...variablesOf(foreign),
      LASTCALL_TOKEN: NEW_TOKEN,
      LASTCALL_RELAY_CREDENTIAL: "shop/2",
    });
    expect(outcome.patch.every(({ op }) => op === "replace")).toBe(true);
  });

  test("replaces a token from a manifest once, in the manager and in the hooks", () => {
    const { give } = fakeRelay();
    const manifest = injected(WEB);
    const admitted = injected(manifest, { ...with_(give), token: NEW_TOKEN });
    expect(variablesOf(admitted)).toMatchObject({ LASTCALL_TOKEN: NEW_TOKEN });
    const old = String(variablesOf(manifest)["LASTCALL_TOKEN"]);
    expect(JSON.stringify(manifest)).toContain(`/${old}/prestop/app`);
    expect(JSON.stringify(admitted)).toContain(`/${NEW_TOKEN}/prestop/app`);
    expect(JSON.stringify(admitted)).not.toContain(old);
    expect(inject(admitted, with_(give))).toMatchObject({ reason: "up_to_date" });
  });

  test("replaces an earlier CA generation and does not change the credential", () => {
    const old = injected(WEB, with_(fakeRelay("a0").give));
    const now = injected(old, with_(fakeRelay("a1").give));
    expect(variablesOf(now)).toMatchObject(GIVEN);
  });

  test("adds no relay access in sleep mode, which has no manager", () => {
    const { give, asked } = fakeRelay();
    const pod = { ...WEB, metadata: { ...WEB.metadata, annotations: { "lastcall.dev/mode": "sleep" } } };
    expect(inject(pod, with_(give))).toMatchObject({ kind: "patched", mode: "sleep" });
    expect(asked).toEqual([]);
  });

  test("adds no owner to the credential without a valid reference to a controller", () => {
    for (const ownerReferences of [null, "x", [null, 7], [{ ...OWNER }], [{ controller: true, kind: 7 }]]) {
      const { give, asked } = fakeRelay();
      inject({ ...WEB, metadata: { ownerReferences } }, with_(give));
      expect(asked).toMatchObject([{ ownerKind: "", ownerName: "", ownerUid: "" }]);
    }
  });
});

describe("injection without a relay", () => {
  test("does not change existing relay variables", () => {
    const pod = injected(WEB, with_(fakeRelay().give));
    expect(inject(pod, { token: NEW_TOKEN })).toMatchObject({ reason: "up_to_date" });
    expect(
      inject(
        pod,
        with_(() => undefined),
      ),
    ).toMatchObject({ reason: "up_to_date" });
  });

  test("does not change relay variables of a manager that moves between the container lists", () => {
    const native = injected(WEB, with_(fakeRelay().give));
    const annotations = { "lastcall.dev/mode": "classic" };
    const { metadata } = native as { readonly metadata: { readonly annotations: object } };
    const moving = { ...native, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } };
    expect(variablesOf(injected(moving))).toMatchObject(GIVEN);
  });
});

test("for any Pod and relay, a second injection changes nothing and an uninjection restores the original", {
  timeout: 120_000,
}, () => {
  let patched = 0;
  fc.assert(
    fc.property(arbitraryPod, (pod) => {
      const { give, asked } = fakeRelay();
      const first = inject(pod, with_(give));
      expect(asked.length).toBeLessThanOrEqual(1);
      if (first.kind !== "patched") return;
      patched += 1;
      expect(inject(first.pod, { ...with_(give), token: "f".repeat(32) })).toMatchObject({ reason: "up_to_date" });
      expect(inject(first.pod, { token: "f".repeat(32) })).toMatchObject({ reason: "up_to_date" });
      expect(uninjectPod(first.pod)).toStrictEqual({ kind: "uninjected", pod });
    }),
    { numRuns: 400 },
  );
  expect(patched).toBeGreaterThan(130);
});
