/** Tests the manager's user in clusters that assign users, and in other clusters. */
import { describe, expect, test } from "vitest";
import { inject, injectedPodOf } from "./injector-inputs.ts";

type JsonObject = { readonly [key: string]: unknown };

const OPENSHIFT_RANGE = { "openshift.io/sa.scc.uid-range": "1000620000/10000" };

function createPod(spec: JsonObject = {}, annotations: JsonObject = {}): JsonObject {
  return { metadata: { name: "web-0", annotations }, spec: { containers: [{ name: "app", image: "app:1" }], ...spec } };
}

function securityContextOf(pod: JsonObject, namespaceAnnotations: JsonObject = {}): JsonObject {
  const { spec } = injectedPodOf(pod, { request: { namespaceAnnotations } }) as {
    spec: { initContainers: JsonObject[] };
  };
  return spec.initContainers[0]?.["securityContext"] as JsonObject;
}

const DEFAULT_USER = { runAsUser: 17_890, runAsNonRoot: true };

describe("the manager's user", () => {
  test("is lastcall's default if the cluster does not assign a user", () => {
    expect(securityContextOf(createPod())).toMatchObject(DEFAULT_USER);
  });

  test.for<[string, JsonObject, JsonObject]>([
    ["whose namespace has a range of users", createPod(), OPENSHIFT_RANGE],
    ["that OpenShift has admitted", createPod({}, { "openshift.io/scc": "restricted-v2" }), {}],
    ["with the setting unset", createPod({}, { "lastcall.dev/run-as-user": "unset" }), {}],
    ["in a namespace with the setting unset", createPod(), { "lastcall.dev/run-as-user": "unset" }],
  ])("is not set in a Pod %s, but the other fields of the restricted profile are", ([, pod, annotations]) => {
    const { runAsUser: _, ...others } = securityContextOf(createPod());
    expect(securityContextOf(pod, annotations)).toStrictEqual(others);
  });

  test("is the configured number, even in a namespace that assigns users", () => {
    const annotations = { "lastcall.dev/run-as-user": "1000620007" };
    expect(securityContextOf(createPod({}, annotations), OPENSHIFT_RANGE)).toMatchObject({ runAsUser: 1_000_620_007 });
  });

  test("is the Pod's own if the Pod sets one for all containers and the cluster assigns users", () => {
    expect(securityContextOf(createPod({ securityContext: { runAsUser: 1001 } }), OPENSHIFT_RANGE)).not.toHaveProperty(
      "runAsUser",
    );
  });

  test("is set in a Pod that runs as root, in which the manager would not start otherwise", () => {
    expect(securityContextOf(createPod({ securityContext: { runAsUser: 0 } }), OPENSHIFT_RANGE)).toMatchObject(
      DEFAULT_USER,
    );
  });

  test.for(["0", "-1", "2147483648", "1e3", "root", "Unset"])("cannot be configured as %s", (user) => {
    expect(securityContextOf(createPod({}, { "lastcall.dev/run-as-user": user }))).toMatchObject(DEFAULT_USER);
  });
});

test("a user that the cluster assigns to the manager after the first injection is not changed by a second injection", () => {
  const first = injectedPodOf(createPod(), { request: { namespaceAnnotations: OPENSHIFT_RANGE } }) as {
    spec: { initContainers: JsonObject[] };
  };
  const editedPod = structuredClone(first);
  const manager = editedPod.spec.initContainers[0];
  Object.assign(manager?.["securityContext"] as object, { runAsUser: 1_000_620_000 });
  const request = { namespaceAnnotations: OPENSHIFT_RANGE };
  expect(inject(editedPod, { request })).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
});
