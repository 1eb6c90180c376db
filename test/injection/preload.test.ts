/** Tests changes of other programs to the preload library's volume, mounts and variables between two injections. */
import { expect, test } from "vitest";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { type InjectorInputs, inject, injectedPodOf, problemCodesOf } from "./injector-inputs.ts";

const LIBRARY = "/lastcall-preload/lastcall-preload.so";
const INPUTS: InjectorInputs = { facts: { apiServerVersion: "v1.36.0", lowestKubeletVersion: "v1.36.0" } };

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
const injectOnce = (pod: Pod): Pod => injectedPodOf(pod, INPUTS) as Pod;
const containerOf = (pod: Pod, name = "app"): Container | undefined =>
  pod.spec.containers.find((container) => container.name === name);

test("the preload library's volume with defaults of the API server is not changed by a second injection", () => {
  const first = injectOnce(podOf(APP));
  const [volume] = first.spec.volumes as { readonly image: object }[];
  const defaultedVolume = { ...volume, image: { ...volume?.image, pullPolicy: "Always" } };
  const storedPod = { ...first, spec: { ...first.spec, volumes: [defaultedVolume] } };
  expect(inject(storedPod, INPUTS)).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
});

test("variables, mounts and volumes that other webhooks add beside those of the preload library are not changed by a second injection", () => {
  const first = injectOnce(podOf({ ...APP, env: [{ name: "A", value: "1" }] }));
  for (const place of ["before", "behind"] as const) {
    const addEntry = (list: unknown, entry: object): readonly unknown[] => {
      const existingEntries = (list ?? []) as readonly unknown[];
      return place === "before" ? [entry, ...existingEntries] : [...existingEntries, entry];
    };
    const containers = first.spec.containers.map((one) => ({
      ...one,
      env: addEntry(one["env"], { name: "TRACE", value: "1" }),
      volumeMounts: addEntry(one["volumeMounts"], { name: "token", mountPath: "/token" }),
    }));
    const volumes = addEntry(first.spec.volumes, { name: "token", emptyDir: {} });
    const editedPod = { ...first, spec: { ...first.spec, containers, volumes } };
    expect(inject(editedPod, INPUTS), place).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
    const uninjection = uninjectPod(editedPod);
    expect(JSON.stringify(uninjection), place).not.toContain("lastcall-preload");
    expect(JSON.stringify(uninjection), place).toContain("TRACE");
  }
});

test("a second injection with a new manager image changes the image of the preload library's volume", () => {
  const first = injectOnce(podOf(APP));
  const image = "registry.example/lastcall-manager:0.2.0";
  const second = injectedPodOf(first, { facts: { ...INPUTS.facts, managerImage: image } }) as Pod;
  expect(second.spec.volumes).toEqual([{ name: "lastcall-preload", image: { reference: image } }]);
});

test("a second injection of a Pod with preload disabled removes the volume, mounts and variables of the preload library", () => {
  const first = injectOnce(podOf({ ...APP, env: [{ name: "LD_PRELOAD", value: "/x.so" }] }));
  expect(containerOf(first)?.["env"]).toEqual([{ name: "LD_PRELOAD", value: `/x.so:${LIBRARY}` }]);
  const annotations = { "lastcall.dev/preload": "disabled" };
  const second = injectedPodOf({ ...first, metadata: { name: "web-0", annotations } }, INPUTS) as Pod;
  expect(containerOf(second)?.["env"]).toEqual([{ name: "LD_PRELOAD", value: "/x.so" }]);
  expect(JSON.stringify(second)).not.toContain("preload=");
  expect(second.spec).not.toHaveProperty("volumes");
});

test("a Pod does not get the preload library if a node's container runtime cannot mount images, and the problem names the runtime", () => {
  const outcome = inject(podOf(APP), { facts: { ...INPUTS.facts, runtimeWithoutImageVolumes: "containerd://1.7.27" } });
  expect(problemCodesOf(outcome)).toEqual(["preload_left_out"]);
  expect(outcome.explanation.problems[0]?.message).toContain('"containerd://1.7.27"');
  expect(JSON.stringify(outcome.kind === "patched" ? outcome.pod : {})).not.toContain("LD_PRELOAD");
});

test("the manager listens for preloaded processes only if a container loads the preload library", () => {
  const podWithoutPreload = podOf({ ...APP, envFrom: [{ secretRef: { name: "settings" } }] });
  const outcome = inject(podWithoutPreload, INPUTS);
  expect(problemCodesOf(outcome)).toEqual(["preload_left_out"]);
  expect(JSON.stringify(outcome.kind === "patched" ? outcome.pod : {})).not.toContain("--preload");
});

test.for(["istio-proxy", "linkerd-proxy"])(
  "the mesh proxy %s in an app's Pod never gets the preload library",
  (name) => {
    const pod = injectOnce(podOf(APP, { name, image: "registry.example/proxy:1" }));
    expect(containerOf(pod, name)).not.toHaveProperty("env");
    expect(containerOf(pod)?.["env"]).toEqual([{ name: "LD_PRELOAD", value: LIBRARY }]);
  },
);
