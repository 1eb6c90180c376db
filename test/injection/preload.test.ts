/** The preload library, when other programs change its volume, mounts and variables between two passes. */
import { expect, test } from "vitest";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { codes, type Given, inject, injected } from "./injector-inputs.ts";

const LIBRARY = "/lastcall-preload/lastcall-preload.so";
const GIVEN: Given = { facts: { apiServerVersion: "v1.36.0", lowestKubeletVersion: "v1.36.0" } };

type Container = Record<string, unknown> & { readonly name: string };
type Pod = {
  readonly metadata: object;
  readonly spec: { readonly containers: Container[]; readonly volumes?: object[] };
};

const podOf = (...containers: readonly Container[]): Pod => ({
  metadata: { name: "web-0", annotations: { "lastcall.dev/preload": "http1" } },
  spec: { containers: [...containers] },
});
const APP: Container = { name: "app", image: "registry.example/app:1" };
const firstPass = (pod: Pod): Pod => injected(pod, GIVEN) as Pod;
const containerOf = (pod: Pod, name = "app"): Container | undefined =>
  pod.spec.containers.find((container) => container.name === name);

test("the preload volume with defaults of the API server is not changed by a second injection", () => {
  const once = firstPass(podOf(APP));
  const [volume] = once.spec.volumes as { readonly image: object }[];
  const completed = { ...volume, image: { ...volume?.image, pullPolicy: "Always" } };
  const stored = { ...once, spec: { ...once.spec, volumes: [completed] } };
  expect(inject(stored, GIVEN)).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
});

test("entries that others add to LD_PRELOAD are not changed by a second injection", () => {
  const once = firstPass(podOf({ ...APP, env: [{ name: "A", value: "1" }] }));
  for (const place of ["before", "behind"] as const) {
    const more = (list: unknown, entry: object): readonly unknown[] => {
      const present = (list ?? []) as readonly unknown[];
      return place === "before" ? [entry, ...present] : [...present, entry];
    };
    const containers = once.spec.containers.map((one) => ({
      ...one,
      env: more(one["env"], { name: "TRACE", value: "1" }),
      volumeMounts: more(one["volumeMounts"], { name: "token", mountPath: "/token" }),
    }));
    const volumes = more(once.spec.volumes, { name: "token", emptyDir: {} });
    const later = { ...once, spec: { ...once.spec, containers, volumes } };
    expect(inject(later, GIVEN), place).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
    const back = uninjectPod(later);
    expect(JSON.stringify(back), place).not.toContain("lastcall-preload");
    expect(JSON.stringify(back), place).toContain("TRACE");
  }
});

test("the preload volume gets the image of a changed manager", () => {
  const once = firstPass(podOf(APP));
  const image = "registry.example/lastcall-manager:0.2.0";
  const twice = injected(once, { facts: { ...GIVEN.facts, managerImage: image } }) as Pod;
  expect(twice.spec.volumes).toEqual([{ name: "lastcall-preload", image: { reference: image } }]);
});

test("a second injection of a Pod without the preload setting removes all parts of the preload", () => {
  const once = firstPass(podOf({ ...APP, env: [{ name: "LD_PRELOAD", value: "/x.so" }] }));
  expect(containerOf(once)?.["env"]).toEqual([{ name: "LD_PRELOAD", value: `/x.so:${LIBRARY}` }]);
  const annotations = { "lastcall.dev/preload": "disabled" };
  const later = injected({ ...once, metadata: { name: "web-0", annotations } }, GIVEN) as Pod;
  expect(containerOf(later)?.["env"]).toEqual([{ name: "LD_PRELOAD", value: "/x.so" }]);
  expect(JSON.stringify(later)).not.toContain("preload=");
  expect(later.spec).not.toHaveProperty("volumes");
});

test("a Pod gets no preload if a node's runtime cannot mount images, and the problem has the runtime", () => {
  const outcome = inject(podOf(APP), { facts: { ...GIVEN.facts, oldRuntime: "containerd://1.7.27" } });
  expect(codes(outcome)).toEqual(["preload_left_out"]);
  expect(outcome.explanation.problems[0]?.message).toContain('"containerd://1.7.27"');
  expect(JSON.stringify(outcome.kind === "patched" ? outcome.pod : {})).not.toContain("LD_PRELOAD");
});

test("the manager listens for preloaded processes only if a container has the preload", () => {
  const nowhere = podOf({ ...APP, envFrom: [{ secretRef: { name: "settings" } }] });
  const outcome = inject(nowhere, GIVEN);
  expect(codes(outcome)).toEqual(["preload_left_out"]);
  expect(JSON.stringify(outcome.kind === "patched" ? outcome.pod : {})).not.toContain("--preload");
});

test.for(["istio-proxy", "linkerd-proxy"])("the mesh proxy %s beside the app never gets the preload", (name) => {
  const pod = firstPass(podOf(APP, { name, image: "registry.example/proxy:1" }));
  expect(containerOf(pod, name)).not.toHaveProperty("env");
  expect(containerOf(pod)?.["env"]).toEqual([{ name: "LD_PRELOAD", value: LIBRARY }]);
});
