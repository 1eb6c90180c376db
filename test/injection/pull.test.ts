/** The pull policy and pull Secrets of the manager's image. */
import { describe, expect, test } from "vitest";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { inject, injected } from "./injector-inputs.ts";

type Loose = { readonly [key: string]: unknown };

const FACTS = { facts: { managerPullPolicy: "Always", pullSecrets: ["mirror", "team"] } } as const;

function web(spec: Loose = {}): object {
  return { metadata: { name: "web-0" }, spec: { containers: [{ name: "app", image: "app:1" }], ...spec } };
}

function specOf(pod: object): Loose {
  return (pod as { readonly spec: Loose }).spec;
}

describe("the image pull secrets of the manager", () => {
  test("are added after the Pod's own, each once", () => {
    const own = { imagePullSecrets: [{ name: "team" }, { name: "other" }] };
    expect(specOf(injected(web(own), FACTS))["imagePullSecrets"]).toEqual([
      ...own.imagePullSecrets,
      { name: "mirror" },
    ]);
    expect(specOf(injected(web(), FACTS))["imagePullSecrets"]).toEqual([{ name: "mirror" }, { name: "team" }]);
  });

  test.for<[string, Loose]>([
    ["none", {}],
    ["null", { imagePullSecrets: null }],
    ["an empty list", { imagePullSecrets: [] }],
    ["its own secret", { imagePullSecrets: [{ name: "own" }] }],
    ["the same secrets", { imagePullSecrets: [{ name: "team" }, { name: "mirror" }] }],
  ])("are removed by an uninjection from a Pod that had %s", ([, spec]) => {
    const pod = injected(web(spec), FACTS);
    expect(inject(pod, FACTS)).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
    expect(uninjectPod(pod)).toMatchObject({ pod: web(spec) });
  });

  test("are removed by an uninjection without those of other programs", () => {
    const pod = structuredClone(injected(web(), FACTS)) as { spec: { imagePullSecrets: Loose[] } };
    pod.spec.imagePullSecrets.push({ name: "theirs" });
    expect(specOf((uninjectPod(pod) as { readonly pod: object }).pod)["imagePullSecrets"]).toEqual([
      { name: "theirs" },
    ]);
  });

  test("are not added to a Pod without a manager", () => {
    const pod = { ...web(), metadata: { annotations: { "lastcall.dev/mode": "sleep" } } };
    expect(specOf(injected(pod, FACTS))).not.toHaveProperty("imagePullSecrets");
  });
});

describe("the image pull policy of the manager", () => {
  const managerIn = (pod: object) => (specOf(pod)["initContainers"] as readonly Loose[])[0];

  test("is written if configured, and otherwise is set by the API server", () => {
    expect(managerIn(injected(web(), FACTS))).toMatchObject({ imagePullPolicy: "Always" });
    expect(managerIn(injected(web()))).not.toHaveProperty("imagePullPolicy");
  });

  test("is not changed if another admission webhook set it", () => {
    const pod = structuredClone(injected(web(), { facts: { managerPullPolicy: "Never" } }));
    Object.assign(managerIn(pod) as object, { imagePullPolicy: "Always" });
    expect(inject(pod, { facts: { managerPullPolicy: "Never" } })).toMatchObject({ reason: "up_to_date" });
  });
});

describe("a manager image that nodes cannot pull for the namespace", () => {
  const PULL_ERROR = { facts: { imagePullError: "Failed to pull image: not found" } };

  test("is not injected, and the warning quotes the node's error", () => {
    const outcome = inject(web(), PULL_ERROR);
    expect(outcome).toMatchObject({ kind: "unchanged", reason: "image_unpullable" });
    expect(outcome.explanation.problems).toEqual([
      expect.objectContaining({ code: "not_injected", message: expect.stringContaining("not found") }),
    ]);
  });

  test("does not prevent the sleep mode, which needs no image", () => {
    const pod = { ...web(), metadata: { annotations: { "lastcall.dev/mode": "sleep" } } };
    expect(inject(pod, PULL_ERROR)).toMatchObject({ kind: "patched", mode: "sleep" });
  });
});
