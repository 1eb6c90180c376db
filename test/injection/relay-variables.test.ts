/** What a Pod gets to reach the relay, and what becomes of it in a second pass, a copy, and on the way out. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { GiveRelayAccess, RelayAccess, RelayAccessRequest } from "../../src/contract/relay-access.ts";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { arbitraryPod } from "./arbitrary-pod.ts";
import { inject, injected } from "./given.ts";

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

/** Like the relay's: a credential names its namespace and a number, and one of the same namespace is kept. */
function pretendRelay(generation = "a1"): { give: GiveRelayAccess; asked: RelayAccessRequest[] } {
  const asked: RelayAccessRequest[] = [];
  const give: GiveRelayAccess = (question) => {
    asked.push(question);
    const standing = question.existing?.credential;
    return {
      address: "10.96.0.7:443",
      serverName: `relay-${generation}.lastcall.internal`,
      ca: `ca-of-${generation}`,
      credential:
        standing?.startsWith(`${question.namespace}/`) === true ? standing : `${question.namespace}/${asked.length}`,
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

const with_ = (give: GiveRelayAccess) => ({ request: { giveRelayAccess: give } });

const NEW_TOKEN = "e".repeat(32);

const GIVEN = {
  LASTCALL_RELAY_ADDRESS: "10.96.0.7:443",
  LASTCALL_RELAY_NAME: "relay-a1.lastcall.internal",
  LASTCALL_RELAY_CA: "ca-of-a1",
  LASTCALL_RELAY_CREDENTIAL: "shop/1",
  POD_IPS: { fieldRef: { fieldPath: "status.podIPs" } },
};

describe("with a relay", () => {
  test("the manager gets its address, name, CA and a credential, and the Pod's addresses to ask about", () => {
    const { give, asked } = pretendRelay();
    expect(variablesOf(injected(WEB, with_(give)))).toMatchObject(GIVEN);
    expect(asked).toEqual([
      { namespace: "shop", ownerKind: OWNER.kind, ownerName: OWNER.name, ownerUid: OWNER.uid, standing: undefined },
    ]);
  });

  test("a second pass asks with what stands and changes nothing", () => {
    const { give, asked } = pretendRelay();
    const first = injected(WEB, with_(give));
    expect(inject(first, with_(give))).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
    const standing: RelayAccess | undefined = asked[1]?.existing;
    expect(standing).toEqual({
      address: GIVEN.LASTCALL_RELAY_ADDRESS,
      serverName: GIVEN.LASTCALL_RELAY_NAME,
      ca: GIVEN.LASTCALL_RELAY_CA,
      credential: GIVEN.LASTCALL_RELAY_CREDENTIAL,
    });
  });

  test("a Pod that got its manager without one gets the relay's variables and nothing else", () => {
    const before = injected(WEB);
    const after = injected(before, with_(pretendRelay().give));
    const names = Object.keys(variablesOf(before));
    expect(Object.keys(variablesOf(after))).toEqual([...names, "POD_IPS", ...Object.keys(GIVEN).slice(0, 4)]);
    const stripped = structuredClone(after);
    managerOf(stripped).env = managerOf(stripped).env.filter(({ name }) => names.includes(name));
    expect(stripped).toEqual(before);
  });

  test("a copy from another namespace loses only the credential and the token of that namespace", () => {
    const { give } = pretendRelay();
    const foreign = injected(WEB, { request: { namespace: "elsewhere", giveRelayAccess: give } });
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

  test("a token from a manifest is replaced, in the hooks as well, and the new one is kept", () => {
    const { give } = pretendRelay();
    const manifest = injected(WEB);
    const admitted = injected(manifest, { ...with_(give), token: NEW_TOKEN });
    expect(variablesOf(admitted)).toMatchObject({ LASTCALL_TOKEN: NEW_TOKEN });
    const old = String(variablesOf(manifest)["LASTCALL_TOKEN"]);
    expect(JSON.stringify(manifest)).toContain(`/${old}/prestop/app`);
    expect(JSON.stringify(admitted)).toContain(`/${NEW_TOKEN}/prestop/app`);
    expect(JSON.stringify(admitted)).not.toContain(old);
    expect(inject(admitted, with_(give))).toMatchObject({ reason: "up_to_date" });
  });

  test("a Pod of an earlier generation gets the present one and keeps its credential", () => {
    const old = injected(WEB, with_(pretendRelay("a0").give));
    const now = injected(old, with_(pretendRelay("a1").give));
    expect(variablesOf(now)).toMatchObject(GIVEN);
  });

  test("sleep mode has no one who could ask", () => {
    const { give, asked } = pretendRelay();
    const pod = { ...WEB, metadata: { ...WEB.metadata, annotations: { "lastcall.dev/mode": "sleep" } } };
    expect(inject(pod, with_(give))).toMatchObject({ kind: "patched", mode: "sleep" });
    expect(asked).toEqual([]);
  });

  test("an owner whose reference is damaged, or that does not control the Pod, is no one", () => {
    for (const ownerReferences of [null, "x", [null, 7], [{ ...OWNER }], [{ controller: true, kind: 7 }]]) {
      const { give, asked } = pretendRelay();
      inject({ ...WEB, metadata: { ownerReferences } }, with_(give));
      expect(asked).toMatchObject([{ ownerKind: "", ownerName: "", ownerUid: "" }]);
    }
  });
});

describe("without a relay", () => {
  test("what stands of one is left alone", () => {
    const pod = injected(WEB, with_(pretendRelay().give));
    expect(inject(pod, { token: NEW_TOKEN })).toMatchObject({ reason: "up_to_date" });
    expect(
      inject(
        pod,
        with_(() => undefined),
      ),
    ).toMatchObject({ reason: "up_to_date" });
  });

  test("a manager that moves between the lists takes it along", () => {
    const native = injected(WEB, with_(pretendRelay().give));
    const annotations = { "lastcall.dev/mode": "classic" };
    const { metadata } = native as { readonly metadata: { readonly annotations: object } };
    const moving = { ...native, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } };
    expect(variablesOf(injected(moving))).toMatchObject(GIVEN);
  });
});

test("a second injection changes nothing and an uninjection gives the original back, whatever the Pod", {
  timeout: 120_000,
}, () => {
  let patched = 0;
  fc.assert(
    fc.property(arbitraryPod, (pod) => {
      const { give, asked } = pretendRelay();
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
