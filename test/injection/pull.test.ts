/** How a node gets the manager's image: when it pulls, and with which Secrets. */
import { describe, expect, test } from "vitest";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { inject, injected } from "./given.ts";

type Loose = { readonly [key: string]: unknown };

const FACTS = { facts: { managerPullPolicy: "Always", pullSecrets: ["mirror", "team"] } } as const;

function web(spec: Loose = {}): object {
  return { metadata: { name: "web-0" }, spec: { containers: [{ name: "app", image: "app:1" }], ...spec } };
}

function specOf(pod: object): Loose {
  return (pod as { readonly spec: Loose }).spec;
}

describe("pull secrets", () => {
  test("are added behind the Pod's own, each once", () => {
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
    ["its own", { imagePullSecrets: [{ name: "own" }] }],
    ["the same", { imagePullSecrets: [{ name: "team" }, { name: "mirror" }] }],
  ])("of a Pod that had %s are taken back by uninject, and a second pass changes nothing", ([, spec]) => {
    const pod = injected(web(spec), FACTS);
    expect(inject(pod, FACTS)).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
    expect(uninjectPod(pod)).toMatchObject({ pod: web(spec) });
  });

  test("that another program added since stay when ours are taken back", () => {
    const pod = structuredClone(injected(web(), FACTS)) as { spec: { imagePullSecrets: Loose[] } };
    pod.spec.imagePullSecrets.push({ name: "theirs" });
    expect(specOf((uninjectPod(pod) as { readonly pod: object }).pod)["imagePullSecrets"]).toEqual([
      { name: "theirs" },
    ]);
  });

  test("are not added where no manager is", () => {
    const pod = { ...web(), metadata: { annotations: { "lastcall.dev/mode": "sleep" } } };
    expect(specOf(injected(pod, FACTS))).not.toHaveProperty("imagePullSecrets");
  });
});

describe("the pull policy", () => {
  const managerIn = (pod: object) => (specOf(pod)["initContainers"] as readonly Loose[])[0];

  test("is written where it is said, and left to the API server where it is not", () => {
    expect(managerIn(injected(web(), FACTS))).toMatchObject({ imagePullPolicy: "Always" });
    expect(managerIn(injected(web()))).not.toHaveProperty("imagePullPolicy");
  });

  test("that an admission wrote over ours stays", () => {
    const pod = structuredClone(injected(web(), { facts: { managerPullPolicy: "Never" } }));
    Object.assign(managerIn(pod) as object, { imagePullPolicy: "Always" });
    expect(inject(pod, { facts: { managerPullPolicy: "Never" } })).toMatchObject({ reason: "up_to_date" });
  });
});

describe("an image that nodes cannot pull for the namespace", () => {
  const TROUBLE = { facts: { imagePullError: "Failed to pull image: not found" } };

  test("goes into no Pod, and its creator hears what a node said", () => {
    const outcome = inject(web(), TROUBLE);
    expect(outcome).toMatchObject({ kind: "unchanged", reason: "image_unpullable" });
    expect(outcome.explanation.problems).toEqual([
      expect.objectContaining({ code: "not_injected", message: expect.stringContaining("not found") }),
    ]);
  });

  test("keeps no Pod from the mode that needs none", () => {
    const pod = { ...web(), metadata: { annotations: { "lastcall.dev/mode": "sleep" } } };
    expect(inject(pod, TROUBLE)).toMatchObject({ kind: "patched", mode: "sleep" });
  });
});
