/** The relay access that Pods get, and the verification of their requests. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fingerprintOf } from "../../../src/authority/certificate.ts";
import type { IssueRelayAccess, RelayAccess, RelayAccessRequest } from "../../../src/contract/relay-access.ts";
import type { RelayIdentity } from "../../../src/relay/identity/identity.ts";
import { createAccessIssuer, createCredentialCheck } from "../../../src/relay/identity/relay-access.ts";
import { arbitraryPod } from "../../injection/arbitrary-pod.ts";
import { inject } from "../../injection/injector-inputs.ts";
import { DAY_MS, fakeGeneration, fakeKey, START_MS, YEAR_MS } from "./fake-tools.ts";

const FIRST = fakeGeneration("first", START_MS);
const KEY = fakeKey("first", START_MS);
const OWNER = { ownerKind: "ReplicaSet", ownerName: "web-5d9", ownerUid: "uid-5d9" };
const REQUEST: RelayAccessRequest = { namespace: "shop", ...OWNER, existing: undefined };

type Replica = {
  readonly access: IssueRelayAccess;
  readonly give: (request?: Partial<RelayAccessRequest>) => RelayAccess | undefined;
  readonly check: ReturnType<typeof createCredentialCheck>;
  readonly unknownKeys: () => number;
};

function replica(identity: RelayIdentity, wallMs = START_MS): Replica {
  let nonces = 0;
  let unknown = 0;
  const ports = {
    identity: () => identity,
    wallMs: () => wallMs,
    newNonce: () => {
      nonces += 1;
      return String(nonces).padStart(32, "0");
    },
    onUnknownKey: () => {
      unknown += 1;
    },
  };
  const give = createAccessIssuer("10.96.0.7:443", ports);
  return {
    access: give,
    give: (request) => give({ ...REQUEST, ...request }),
    check: createCredentialCheck(ports),
    unknownKeys: () => unknown,
  };
}

const BOTH: RelayIdentity = { generations: [FIRST], keys: [KEY] };
const bearing = (access: RelayAccess | undefined) => `Lastcall ${access?.credential}`;

describe("the relay access of a Pod", () => {
  test("is the newest CA with its name, and a credential for the namespace and owner", () => {
    const { give, check } = replica(BOTH);
    const access = give();
    expect(access).toMatchObject({
      address: "10.96.0.7:443",
      serverName: `relay-${fingerprintOf(FIRST)}.lastcall.internal`,
      ca: FIRST.id,
    });
    expect(check(bearing(access))).toEqual({ namespace: "shop", ...OWNER, nonce: "0".repeat(15).concat("0") });
  });

  test("is missing without a CA or a signing key", () => {
    expect(replica({ generations: [FIRST], keys: [] }).give()).toBeUndefined();
    expect(replica({ generations: [], keys: [KEY] }).give()).toBeUndefined();
    expect(replica(BOTH, FIRST.validUntilMs).give()).toBeUndefined();
  });

  test("is missing for an invalid namespace", () => {
    for (const namespace of ["", "Shop", "a.b", "x".repeat(64), "shop\n"]) {
      expect(replica(BOTH).give({ namespace })).toBeUndefined();
    }
  });

  test("has a credential without owner if the owner reference is invalid", () => {
    const odd = { ownerKind: "ReplicaSet", ownerName: "x".repeat(100_000), ownerUid: "\u0000" };
    const { give, check } = replica(BOTH);
    expect(check(bearing(give(odd)))).toMatchObject({ ownerKind: "", ownerName: "", ownerUid: "" });
  });
});

describe("an existing credential in a Pod", () => {
  const existing = replica(BOTH).give();
  const credentialOf = (access: RelayAccess | undefined) => access?.credential;

  test("stays at every replica, even at one that signs with a newer key", () => {
    const next = fakeKey("next", START_MS + 90 * DAY_MS);
    const newer = replica({ ...BOTH, keys: [KEY, next] }, START_MS + 91 * DAY_MS);
    expect(credentialOf(newer.give({ existing }))).toBe(credentialOf(existing));
    expect(credentialOf(newer.give())?.startsWith(next.kid)).toBe(true);
  });

  test("is combined with the current CA", () => {
    const second = fakeGeneration("second", START_MS + DAY_MS);
    const later = replica({ ...BOTH, generations: [FIRST, second] }, START_MS + DAY_MS);
    expect(later.give({ existing })).toMatchObject({ ca: second.id, credential: credentialOf(existing) });
  });

  test("is replaced if its signing key expires within a year", () => {
    const keys = [KEY, fakeKey("next", START_MS + 300 * DAY_MS)];
    expect(credentialOf(replica({ ...BOTH, keys }, START_MS + YEAR_MS - 1).give({ existing }))).toBe(
      credentialOf(existing),
    );
    expect(credentialOf(replica({ ...BOTH, keys }, START_MS + YEAR_MS).give({ existing }))).not.toBe(
      credentialOf(existing),
    );
  });

  test.for([
    { title: "another namespace", changed: { namespace: "elsewhere" } },
    { title: "another owner", changed: { ownerName: "other", ownerUid: "uid-other" } },
    { title: "a recreated owner of the same name", changed: { ownerUid: "uid-new" } },
    { title: "a Pod without an owner", changed: { ownerKind: "", ownerName: "", ownerUid: "" } },
  ])("is replaced if it was copied to $title", ({ changed }) => {
    const { give, check } = replica(BOTH);
    const access = give({ ...changed, existing });
    expect(credentialOf(access)).not.toBe(credentialOf(existing));
    expect(check(bearing(access))).toMatchObject(changed);
  });

  test("is replaced if it is forged or its signing key was removed", () => {
    const { give, unknownKeys } = replica(BOTH);
    const foreign = replica({ ...BOTH, keys: [fakeKey("foreign", START_MS)] }).give();
    for (const credential of ["", "x", "$(HOSTNAME)", credentialOf(foreign) ?? "", "\u0000".repeat(10_000)]) {
      const access = give({ existing: { address: "", serverName: "", ca: "", credential } });
      expect(credentialOf(access)?.startsWith(`${KEY.kid}.`)).toBe(true);
    }
    // An admission must not cause a read of the Secret.
    expect(unknownKeys()).toBe(0);
  });
});

test("for any Pod, a second injection at another replica changes nothing, and both accept the credential", {
  timeout: 300_000,
}, () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("ReplicaSet", "web-0", "", "x".repeat(5_000)));
  const anyOwner = fc.record(
    { kind: text, name: text, uid: text, controller: fc.constantFrom<unknown>(true, false, "true") },
    { requiredKeys: [] },
  );
  let carried = 0;
  fc.assert(
    fc.property(arbitraryPod, fc.array(anyOwner, { maxLength: 3 }), (pod, ownerReferences) => {
      const [first, second] = [replica(BOTH), replica(BOTH, START_MS + DAY_MS)];
      const through = (each: Replica) => ({ request: { issueRelayAccess: each.access } });
      const owned = { ...pod, metadata: { ...("metadata" in pod ? (pod.metadata as object) : {}), ownerReferences } };
      const outcome = inject(owned, through(first));
      if (outcome.kind !== "patched") return;
      expect(inject(outcome.pod, through(second))).toMatchObject({ reason: "up_to_date" });
      const credential = /"LASTCALL_RELAY_CREDENTIAL","value":"([^"]+)"/.exec(JSON.stringify(outcome.pod))?.[1];
      if (credential === undefined) return;
      carried += 1;
      for (const each of [first, second]) {
        const claims = each.check(`Lastcall ${credential}`);
        expect(claims?.namespace).toBe("shop");
        expect(claims?.ownerName.length).toBeLessThanOrEqual(253);
      }
    }),
    { numRuns: 300 },
  );
  expect(carried).toBeGreaterThan(100);
});

describe("a request to the relay", () => {
  test("is accepted only if Authorization is exactly the scheme and the credential", () => {
    const { give, check } = replica(BOTH);
    const { credential = "" } = give() ?? {};
    expect(check(`Lastcall ${credential}`)).toMatchObject({ namespace: "shop" });
    for (const header of [
      undefined,
      "",
      credential,
      `lastcall ${credential}`,
      `Lastcall  ${credential}`,
      `Lastcall ${credential} `,
      `Bearer ${credential}`,
      `Lastcall ${credential}, Lastcall ${credential}`,
      "Lastcall ",
    ]) {
      expect(check(header)).toBeUndefined();
    }
  });

  test("causes a read of the Secret only if the credential's signing key is unknown", () => {
    const { check, unknownKeys } = replica({ ...BOTH, keys: [fakeKey("other", START_MS)] });
    expect(check(bearing(replica(BOTH).give()))).toBeUndefined();
    expect(unknownKeys()).toBe(1);
    check("Lastcall nonsense");
    check(`Lastcall ${KEY.kid}`);
    expect(unknownKeys()).toBe(1);
  });
});
