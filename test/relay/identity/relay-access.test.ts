/** Tests the relay access of injected Pods and the check of their credentials. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fingerprintOf } from "../../../src/authority/certificate.ts";
import type { IssueRelayAccess, RelayAccess, RelayAccessRequest } from "../../../src/contract/relay-access.ts";
import type { RelayIdentity } from "../../../src/relay/identity/identity.ts";
import { createAccessIssuer, createCredentialCheck } from "../../../src/relay/identity/relay-access.ts";
import { arbitraryPod } from "../../injection/arbitrary-pod.ts";
import { inject } from "../../injection/injector-inputs.ts";
import { createFakeCa, createFakeKey, DAY_MS, START_MS, YEAR_MS } from "./fake-tools.ts";

const FIRST = createFakeCa("first", START_MS);
const KEY = createFakeKey("first", START_MS);
const OWNER = { ownerKind: "ReplicaSet", ownerName: "web-5d9", ownerUid: "uid-5d9" };
const REQUEST: RelayAccessRequest = { namespace: "shop", ...OWNER, existingAccess: undefined };

type Replica = {
  readonly issueRelayAccess: IssueRelayAccess;
  readonly issueAccess: (request?: Partial<RelayAccessRequest>) => RelayAccess | undefined;
  readonly checkCredential: ReturnType<typeof createCredentialCheck>;
  readonly unknownKeyCount: () => number;
};

function createReplica(identity: RelayIdentity, wallMs = START_MS): Replica {
  let nonceCount = 0;
  let unknownCount = 0;
  const ports = {
    identity: () => identity,
    wallMs: () => wallMs,
    newNonce: () => {
      nonceCount += 1;
      return String(nonceCount).padStart(32, "0");
    },
    onUnknownKey: () => {
      unknownCount += 1;
    },
  };
  const issueAccess = createAccessIssuer("10.96.0.7:443", ports);
  return {
    issueRelayAccess: issueAccess,
    issueAccess: (request) => issueAccess({ ...REQUEST, ...request }),
    checkCredential: createCredentialCheck(ports),
    unknownKeyCount: () => unknownCount,
  };
}

const IDENTITY: RelayIdentity = { cas: [FIRST], keys: [KEY] };
const authorizationOf = (access: RelayAccess | undefined) => `Lastcall ${access?.credential}`;

describe("the access of a Pod to the relay", () => {
  test("has the newest CA, the server name of that CA, and a credential for the Pod's namespace and owner", () => {
    const { issueAccess, checkCredential } = createReplica(IDENTITY);
    const access = issueAccess();
    expect(access).toMatchObject({
      address: "10.96.0.7:443",
      serverName: `relay-${fingerprintOf(FIRST)}.lastcall.internal`,
      ca: FIRST.id,
    });
    expect(checkCredential(authorizationOf(access))).toEqual({
      namespace: "shop",
      ...OWNER,
      nonce: "0".repeat(15).concat("0"),
    });
  });

  test("is missing without a CA or a signing key", () => {
    expect(createReplica({ cas: [FIRST], keys: [] }).issueAccess()).toBeUndefined();
    expect(createReplica({ cas: [], keys: [KEY] }).issueAccess()).toBeUndefined();
    expect(createReplica(IDENTITY, FIRST.validUntilMs).issueAccess()).toBeUndefined();
  });

  test("is missing for an invalid namespace", () => {
    for (const namespace of ["", "Shop", "a.b", "x".repeat(64), "shop\n"]) {
      expect(createReplica(IDENTITY).issueAccess({ namespace })).toBeUndefined();
    }
  });

  test("has a credential without an owner if the owner reference is invalid", () => {
    const invalidOwner = { ownerKind: "ReplicaSet", ownerName: "x".repeat(100_000), ownerUid: "\u0000" };
    const { issueAccess, checkCredential } = createReplica(IDENTITY);
    expect(checkCredential(authorizationOf(issueAccess(invalidOwner)))).toMatchObject({
      ownerKind: "",
      ownerName: "",
      ownerUid: "",
    });
  });
});

describe("an existing credential in a Pod", () => {
  const existingAccess = createReplica(IDENTITY).issueAccess();
  const credentialOf = (access: RelayAccess | undefined) => access?.credential;

  test("is not replaced by any replica, even by one that signs with a newer key", () => {
    const next = createFakeKey("next", START_MS + 90 * DAY_MS);
    const newerReplica = createReplica({ ...IDENTITY, keys: [KEY, next] }, START_MS + 91 * DAY_MS);
    expect(credentialOf(newerReplica.issueAccess({ existingAccess }))).toBe(credentialOf(existingAccess));
    expect(credentialOf(newerReplica.issueAccess())?.startsWith(next.kid)).toBe(true);
  });

  test("is combined with the current CA", () => {
    const second = createFakeCa("second", START_MS + DAY_MS);
    const laterReplica = createReplica({ ...IDENTITY, cas: [FIRST, second] }, START_MS + DAY_MS);
    expect(laterReplica.issueAccess({ existingAccess })).toMatchObject({
      ca: second.id,
      credential: credentialOf(existingAccess),
    });
  });

  test("is replaced if its signing key expires within a year", () => {
    const keys = [KEY, createFakeKey("next", START_MS + 300 * DAY_MS)];
    expect(
      credentialOf(createReplica({ ...IDENTITY, keys }, START_MS + YEAR_MS - 1).issueAccess({ existingAccess })),
    ).toBe(credentialOf(existingAccess));
    expect(
      credentialOf(createReplica({ ...IDENTITY, keys }, START_MS + YEAR_MS).issueAccess({ existingAccess })),
    ).not.toBe(credentialOf(existingAccess));
  });

  test.for([
    { title: "another namespace", changedRequest: { namespace: "elsewhere" } },
    { title: "another owner", changedRequest: { ownerName: "other", ownerUid: "uid-other" } },
    { title: "a recreated owner of the same name", changedRequest: { ownerUid: "uid-new" } },
    { title: "a Pod without an owner", changedRequest: { ownerKind: "", ownerName: "", ownerUid: "" } },
  ])("is replaced if it was copied to $title", ({ changedRequest }) => {
    const { issueAccess, checkCredential } = createReplica(IDENTITY);
    const access = issueAccess({ ...changedRequest, existingAccess });
    expect(credentialOf(access)).not.toBe(credentialOf(existingAccess));
    expect(checkCredential(authorizationOf(access))).toMatchObject(changedRequest);
  });

  test("is replaced if it is forged or its signing key was removed", () => {
    const { issueAccess, unknownKeyCount } = createReplica(IDENTITY);
    const otherAccess = createReplica({ ...IDENTITY, keys: [createFakeKey("foreign", START_MS)] }).issueAccess();
    for (const credential of ["", "x", "$(HOSTNAME)", credentialOf(otherAccess) ?? "", "\u0000".repeat(10_000)]) {
      const access = issueAccess({ existingAccess: { address: "", serverName: "", ca: "", credential } });
      expect(credentialOf(access)?.startsWith(`${KEY.kid}.`)).toBe(true);
    }
    // The report of an unknown key causes a read of the Secret. An admission must not cause such a read.
    expect(unknownKeyCount()).toBe(0);
  });
});

test("for any Pod, a second injection by another replica does not change the Pod, and both accept the credential", {
  timeout: 300_000,
}, () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("ReplicaSet", "web-0", "", "x".repeat(5_000)));
  const anyOwner = fc.record(
    { kind: text, name: text, uid: text, controller: fc.constantFrom<unknown>(true, false, "true") },
    { requiredKeys: [] },
  );
  let credentialCount = 0;
  fc.assert(
    fc.property(arbitraryPod, fc.array(anyOwner, { maxLength: 3 }), (pod, ownerReferences) => {
      const [first, second] = [createReplica(IDENTITY), createReplica(IDENTITY, START_MS + DAY_MS)];
      const inputsFor = (replica: Replica) => ({ request: { issueRelayAccess: replica.issueRelayAccess } });
      const podWithOwners = {
        ...pod,
        metadata: { ...("metadata" in pod ? (pod.metadata as object) : {}), ownerReferences },
      };
      const outcome = inject(podWithOwners, inputsFor(first));
      if (outcome.kind !== "patched") return;
      expect(inject(outcome.pod, inputsFor(second))).toMatchObject({ reason: "up_to_date" });
      const credential = /"LASTCALL_RELAY_CREDENTIAL","value":"([^"]+)"/.exec(JSON.stringify(outcome.pod))?.[1];
      if (credential === undefined) return;
      credentialCount += 1;
      for (const replica of [first, second]) {
        const claims = replica.checkCredential(`Lastcall ${credential}`);
        expect(claims?.namespace).toBe("shop");
        expect(claims?.ownerName.length).toBeLessThanOrEqual(253);
      }
    }),
    { numRuns: 300 },
  );
  expect(credentialCount).toBeGreaterThan(100);
});

describe("a request to the relay", () => {
  test("is accepted only if Authorization is exactly the scheme and the credential", () => {
    const { issueAccess, checkCredential } = createReplica(IDENTITY);
    const { credential = "" } = issueAccess() ?? {};
    expect(checkCredential(`Lastcall ${credential}`)).toMatchObject({ namespace: "shop" });
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
      expect(checkCredential(header)).toBeUndefined();
    }
  });

  test("causes a read of the Secret only if the credential's signing key is unknown", () => {
    const { checkCredential, unknownKeyCount } = createReplica({
      ...IDENTITY,
      keys: [createFakeKey("other", START_MS)],
    });
    expect(checkCredential(authorizationOf(createReplica(IDENTITY).issueAccess()))).toBeUndefined();
    expect(unknownKeyCount()).toBe(1);
    checkCredential("Lastcall nonsense");
    checkCredential(`Lastcall ${KEY.kid}`);
    expect(unknownKeyCount()).toBe(1);
  });
});
