/** Tests the pull policy and the pull secrets of the manager's image. */
import { describe, expect, test } from "vitest";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { inject, injectedPodOf } from "./injector-inputs.ts";

type JsonObject = { readonly [key: string]: unknown };

const FACTS = { facts: { managerPullPolicy: "Always", pullSecrets: ["mirror", "team"] } } as const;

function createPod(spec: JsonObject = {}): object {
  return { metadata: { name: "web-0" }, spec: { containers: [{ name: "app", image: "app:1" }], ...spec } };
}

function specOf(pod: object): JsonObject {
  return (pod as { readonly spec: JsonObject }).spec;
}

describe("the image pull secrets of the manager", () => {
  test("are added after the Pod's own, each once", () => {
    const podSecrets = { imagePullSecrets: [{ name: "team" }, { name: "other" }] };
    expect(specOf(injectedPodOf(createPod(podSecrets), FACTS))["imagePullSecrets"]).toEqual([
      ...podSecrets.imagePullSecrets,
      { name: "mirror" },
    ]);
    expect(specOf(injectedPodOf(createPod(), FACTS))["imagePullSecrets"]).toEqual([
      { name: "mirror" },
      { name: "team" },
    ]);
  });

  test.for<[string, JsonObject]>([
    ["none", {}],
    ["a list that is null", { imagePullSecrets: null }],
    ["an empty list", { imagePullSecrets: [] }],
    ["its own secret", { imagePullSecrets: [{ name: "own" }] }],
    ["the same secrets", { imagePullSecrets: [{ name: "team" }, { name: "mirror" }] }],
  ])("are removed by an uninjection from a Pod that had %s", ([, spec]) => {
    const pod = injectedPodOf(createPod(spec), FACTS);
    expect(inject(pod, FACTS)).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
    expect(uninjectPod(pod)).toMatchObject({ pod: createPod(spec) });
  });

  test("are removed by an uninjection, which leaves the secrets of other programs", () => {
    const pod = structuredClone(injectedPodOf(createPod(), FACTS)) as { spec: { imagePullSecrets: JsonObject[] } };
    pod.spec.imagePullSecrets.push({ name: "theirs" });
    expect(specOf((uninjectPod(pod) as { readonly pod: object }).pod)["imagePullSecrets"]).toEqual([
      { name: "theirs" },
    ]);
  });

  test("are not added to a Pod without a manager", () => {
    const pod = { ...createPod(), metadata: { annotations: { "lastcall.dev/mode": "sleep" } } };
    expect(specOf(injectedPodOf(pod, FACTS))).not.toHaveProperty("imagePullSecrets");
  });
});

describe("the image pull policy of the manager", () => {
  const managerIn = (pod: object) => (specOf(pod)["initContainers"] as readonly JsonObject[])[0];

  test("is set if configured, and is otherwise left to the API server", () => {
    expect(managerIn(injectedPodOf(createPod(), FACTS))).toMatchObject({ imagePullPolicy: "Always" });
    expect(managerIn(injectedPodOf(createPod()))).not.toHaveProperty("imagePullPolicy");
  });

  test("is not changed if another admission webhook set it", () => {
    const pod = structuredClone(injectedPodOf(createPod(), { facts: { managerPullPolicy: "Never" } }));
    Object.assign(managerIn(pod) as object, { imagePullPolicy: "Always" });
    expect(inject(pod, { facts: { managerPullPolicy: "Never" } })).toMatchObject({ reason: "up_to_date" });
  });
});

describe("a manager image that nodes cannot pull for the namespace", () => {
  const PULL_ERROR = { facts: { imagePullError: "Failed to pull image: not found" } };

  test("is not injected, and the warning quotes the node's error", () => {
    const outcome = inject(createPod(), PULL_ERROR);
    expect(outcome).toMatchObject({ kind: "unchanged", reason: "image_unpullable" });
    expect(outcome.explanation.problems).toEqual([
      expect.objectContaining({ code: "not_injected", message: expect.stringContaining("not found") }),
    ]);
  });

  test("does not prevent sleep mode, which does not need the image", () => {
    const pod = { ...createPod(), metadata: { annotations: { "lastcall.dev/mode": "sleep" } } };
    expect(inject(pod, PULL_ERROR)).toMatchObject({ kind: "patched", mode: "sleep" });
  });
});
