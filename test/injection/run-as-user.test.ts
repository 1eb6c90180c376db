/** Tests the manager's user in clusters that assign users, and in other clusters. */
import { describe, expect, test } from "vitest";
import { inject, injected } from "./injector-inputs.ts";

type JsonObject = { readonly [key: string]: unknown };

const OPENSHIFT_RANGE = { "openshift.io/sa.scc.uid-range": "1000620000/10000" };

function podWith(spec: JsonObject = {}, annotations: JsonObject = {}): JsonObject {
  return { metadata: { name: "web-0", annotations }, spec: { containers: [{ name: "app", image: "app:1" }], ...spec } };
}

function securityOf(pod: JsonObject, namespaceAnnotations: JsonObject = {}): JsonObject {
  const { spec } = injected(pod, { request: { namespaceAnnotations } }) as { spec: { initContainers: JsonObject[] } };
  return spec.initContainers[0]?.["securityContext"] as JsonObject;
}

const DEFAULT_USER = { runAsUser: 17_890, runAsNonRoot: true };

describe("the manager's user", () => {
  test("is lastcall's default, if the cluster does not assign a user", () => {
    expect(securityOf(podWith())).toMatchObject(DEFAULT_USER);
  });

  test.for<[string, JsonObject, JsonObject]>([
    ["whose namespace has a range of users", podWith(), OPENSHIFT_RANGE],
    ["which OpenShift has admitted", podWith({}, { "openshift.io/scc": "restricted-v2" }), {}],
    ["with the setting unset", podWith({}, { "lastcall.dev/run-as-user": "unset" }), {}],
    ["in a namespace with the setting unset", podWith(), { "lastcall.dev/run-as-user": "unset" }],
  ])("is not set in a Pod %s, but the other fields of the restricted profile are", ([, pod, annotations]) => {
    const { runAsUser: _, ...others } = securityOf(podWith());
    expect(securityOf(pod, annotations)).toStrictEqual(others);
  });

  test("is the configured number, even in a namespace that assigns users", () => {
    const annotations = { "lastcall.dev/run-as-user": "1000620007" };
    expect(securityOf(podWith({}, annotations), OPENSHIFT_RANGE)).toMatchObject({ runAsUser: 1_000_620_007 });
  });

  test("is the Pod's own if the Pod sets one for all containers and the cluster assigns users", () => {
    expect(securityOf(podWith({ securityContext: { runAsUser: 1001 } }), OPENSHIFT_RANGE)).not.toHaveProperty(
      "runAsUser",
    );
  });

  test("is set in a Pod that runs as root, in which the manager would not start otherwise", () => {
    expect(securityOf(podWith({ securityContext: { runAsUser: 0 } }), OPENSHIFT_RANGE)).toMatchObject(DEFAULT_USER);
  });

  test.for(["0", "-1", "2147483648", "1e3", "root", "Unset"])("cannot be configured as %s", (user) => {
    expect(securityOf(podWith({}, { "lastcall.dev/run-as-user": user }))).toMatchObject(DEFAULT_USER);
  });
});

test("a user that the cluster assigns to the manager after the first injection is not changed by a second injection", () => {
  const first = injected(podWith(), { request: { namespaceAnnotations: OPENSHIFT_RANGE } }) as {
    spec: { initContainers: JsonObject[] };
  };
  const assigned = structuredClone(first);
  const manager = assigned.spec.initContainers[0];
  Object.assign(manager?.["securityContext"] as object, { runAsUser: 1_000_620_000 });
  const request = { namespaceAnnotations: OPENSHIFT_RANGE };
  expect(inject(assigned, { request })).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
});
