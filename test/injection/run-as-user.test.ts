/** The manager's user, in clusters that assign users and in others. */
import { describe, expect, test } from "vitest";
import { inject, injected } from "./injector-inputs.ts";

type Loose = { readonly [key: string]: unknown };

const RANGE = { "openshift.io/sa.scc.uid-range": "1000620000/10000" };

function web(spec: Loose = {}, annotations: Loose = {}): Loose {
  return { metadata: { name: "web-0", annotations }, spec: { containers: [{ name: "app", image: "app:1" }], ...spec } };
}

function securityOf(pod: Loose, namespaceAnnotations: Loose = {}): Loose {
  const { spec } = injected(pod, { request: { namespaceAnnotations } }) as { spec: { initContainers: Loose[] } };
  return spec.initContainers[0]?.["securityContext"] as Loose;
}

const OURS = { runAsUser: 17_890, runAsNonRoot: true };

describe("the manager's user", () => {
  test("is lastcall's default, if the cluster assigns none", () => {
    expect(securityOf(web())).toMatchObject(OURS);
  });

  test.for<[string, Loose, Loose]>([
    ["whose namespace has a range of users", web(), RANGE],
    ["which OpenShift has admitted", web({}, { "openshift.io/scc": "restricted-v2" }), {}],
    ["with the setting unset", web({}, { "lastcall.dev/run-as-user": "unset" }), {}],
    ["in a namespace with the setting unset", web(), { "lastcall.dev/run-as-user": "unset" }],
  ])("is not set in a Pod %s, and the rest of the restricted profile is", ([, pod, annotations]) => {
    const { runAsUser: _, ...others } = securityOf(web());
    expect(securityOf(pod, annotations)).toStrictEqual(others);
  });

  test("is the configured number, even in a namespace that assigns users", () => {
    const annotations = { "lastcall.dev/run-as-user": "1000620007" };
    expect(securityOf(web({}, annotations), RANGE)).toMatchObject({ runAsUser: 1_000_620_007 });
  });

  test("is the Pod's own if the Pod sets one for all containers and the cluster assigns users", () => {
    expect(securityOf(web({ securityContext: { runAsUser: 1001 } }), RANGE)).not.toHaveProperty("runAsUser");
  });

  test("is set in a Pod that runs as root, in which the manager would not start otherwise", () => {
    expect(securityOf(web({ securityContext: { runAsUser: 0 } }), RANGE)).toMatchObject(OURS);
  });

  test.for(["0", "-1", "2147483648", "1e3", "root", "Unset"])("cannot be configured as %s", (user) => {
    expect(securityOf(web({}, { "lastcall.dev/run-as-user": user }))).toMatchObject(OURS);
  });
});

test("a user that the cluster assigned to the manager after the first injection stays", () => {
  const first = injected(web(), { request: { namespaceAnnotations: RANGE } }) as { spec: { initContainers: Loose[] } };
  const assigned = structuredClone(first);
  const manager = assigned.spec.initContainers[0];
  Object.assign(manager?.["securityContext"] as object, { runAsUser: 1_000_620_000 });
  const request = { namespaceAnnotations: RANGE };
  expect(inject(assigned, { request })).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
});
