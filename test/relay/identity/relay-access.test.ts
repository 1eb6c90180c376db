/** Who gets which access, and whose requests are believed. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fingerprintOf } from "../../../src/authority/certificate.ts";
import type { GiveRelayAccess, RelayAccess, RelayAccessRequest } from "../../../src/contract/relay-access.ts";
import type { RelayIdentity } from "../../../src/relay/identity/identity.ts";
import { credentialCheck, relayAccess } from "../../../src/relay/identity/relay-access.ts";
import { arbitraryPod } from "../../injection/arbitrary-pod.ts";
import { inject } from "../../injection/given.ts";
import { DAY_MS, pretendGeneration, pretendKey, START_MS, YEAR_MS } from "./pretend-tools.ts";

const FIRST = pretendGeneration("first", START_MS);
const KEY = pretendKey("first", START_MS);
const OWNER = { ownerKind: "ReplicaSet", ownerName: "web-5d9", ownerUid: "uid-5d9" };
const QUESTION: RelayAccessRequest = { namespace: "shop", ...OWNER, existing: undefined };

type Replica = {
  readonly access: GiveRelayAccess;
  readonly give: (question?: Partial<RelayAccessRequest>) => RelayAccess | undefined;
  readonly check: ReturnType<typeof credentialCheck>;
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
  const give = relayAccess("10.96.0.7:443", ports);
  return {
    access: give,
    give: (question) => give({ ...QUESTION, ...question }),
    check: credentialCheck(ports),
    unknownKeys: () => unknown,
  };
}

const BOTH: RelayIdentity = { generations: [FIRST], keys: [KEY] };
const bearing = (access: RelayAccess | undefined) => `Lastcall ${access?.credential}`;

describe("access", () => {
  test("is the newest CA with its name, and a credential that says whom it speaks for", () => {
    const { give, check } = replica(BOTH);
    const access = give();
    expect(access).toMatchObject({
      address: "10.96.0.7:443",
      serverName: `relay-${fingerprintOf(FIRST)}.lastcall.internal`,
      ca: FIRST.id,
    });
    expect(check(bearing(access))).toEqual({ namespace: "shop", ...OWNER, nonce: "0".repeat(15).concat("0") });
  });

  test("is given to no one while there is no CA or no key", () => {
    expect(replica({ generations: [FIRST], keys: [] }).give()).toBeUndefined();
    expect(replica({ generations: [], keys: [KEY] }).give()).toBeUndefined();
    expect(replica(BOTH, FIRST.validUntilMs).give()).toBeUndefined();
  });

  test("is given to no namespace that cannot be one", () => {
    for (const namespace of ["", "Shop", "a.b", "x".repeat(64), "shop\n"]) {
      expect(replica(BOTH).give({ namespace })).toBeUndefined();
    }
  });

  test("names no one as owner when the reference is not what the API server takes", () => {
    const odd = { ownerKind: "ReplicaSet", ownerName: "x".repeat(100_000), ownerUid: "\u0000" };
    const { give, check } = replica(BOTH);
    expect(check(bearing(give(odd)))).toMatchObject({ ownerKind: "", ownerName: "", ownerUid: "" });
  });
});

describe("a credential that stands", () => {
  const standing = replica(BOTH).give();
  const credentialOf = (access: RelayAccess | undefined) => access?.credential;

  test("is kept by every replica, also by one that signs with a newer key", () => {
    const next = pretendKey("next", START_MS + 90 * DAY_MS);
    const newer = replica({ ...BOTH, keys: [KEY, next] }, START_MS + 91 * DAY_MS);
    expect(credentialOf(newer.give({ existing: standing }))).toBe(credentialOf(standing));
    expect(credentialOf(newer.give())?.startsWith(next.kid)).toBe(true);
  });

  test("comes with the CA of today", () => {
    const second = pretendGeneration("second", START_MS + DAY_MS);
    const later = replica({ ...BOTH, generations: [FIRST, second] }, START_MS + DAY_MS);
    expect(later.give({ existing: standing })).toMatchObject({ ca: second.id, credential: credentialOf(standing) });
  });

  test("is replaced when its key will not be known for another year", () => {
    const keys = [KEY, pretendKey("next", START_MS + 300 * DAY_MS)];
    expect(credentialOf(replica({ ...BOTH, keys }, START_MS + YEAR_MS - 1).give({ existing: standing }))).toBe(
      credentialOf(standing),
    );
    expect(credentialOf(replica({ ...BOTH, keys }, START_MS + YEAR_MS).give({ existing: standing }))).not.toBe(
      credentialOf(standing),
    );
  });

  test.for([
    { says: "another namespace", changed: { namespace: "elsewhere" } },
    { says: "another owner", changed: { ownerName: "other", ownerUid: "uid-other" } },
    { says: "an owner of the same name that was made again", changed: { ownerUid: "uid-new" } },
    { says: "a Pod without an owner", changed: { ownerKind: "", ownerName: "", ownerUid: "" } },
  ])("is replaced when it was copied to $says", ({ changed }) => {
    const { give, check } = replica(BOTH);
    const access = give({ ...changed, existing: standing });
    expect(credentialOf(access)).not.toBe(credentialOf(standing));
    expect(check(bearing(access))).toMatchObject(changed);
  });

  test("is replaced when it is someone's invention or of keys that are gone", () => {
    const { give, unknownKeys } = replica(BOTH);
    const foreign = replica({ ...BOTH, keys: [pretendKey("foreign", START_MS)] }).give();
    for (const credential of ["", "x", "$(HOSTNAME)", credentialOf(foreign) ?? "", "\u0000".repeat(10_000)]) {
      const access = give({ existing: { address: "", serverName: "", ca: "", credential } });
      expect(credentialOf(access)?.startsWith(`${KEY.kid}.`)).toBe(true);
    }
    // A Pod in admission is no reason to read the Secret.
    expect(unknownKeys()).toBe(0);
  });
});

test("whatever the Pod and its owner, a second pass at another replica changes nothing and both believe it", {
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
      const through = (each: Replica) => ({ request: { giveRelayAccess: each.access } });
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

describe("a request", () => {
  test("is believed with the scheme and the credential and nothing around them", () => {
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

  test("with a key that is not known is refused and makes the Secret be looked at, any other nonsense does not", () => {
    const { check, unknownKeys } = replica({ ...BOTH, keys: [pretendKey("other", START_MS)] });
    expect(check(bearing(replica(BOTH).give()))).toBeUndefined();
    expect(unknownKeys()).toBe(1);
    check("Lastcall nonsense");
    check(`Lastcall ${KEY.kid}`);
    expect(unknownKeys()).toBe(1);
  });
});
