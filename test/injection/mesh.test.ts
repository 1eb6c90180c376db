/** Tests the detection of mesh Pods, and the exclusion of the manager's port from the mesh's redirection. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { arbitraryPod } from "./arbitrary-pod.ts";
import { inject, injectedPodOf, problemCodesOf } from "./injector-inputs.ts";

type AnnotatedPod = { readonly metadata?: { readonly annotations?: { readonly [key: string]: string } } };

const ISTIO_ANNOTATION = "traffic.sidecar.istio.io/excludeInboundPorts";
const LINKERD_ANNOTATION = "config.linkerd.io/skip-inbound-ports";
const SPEC = { containers: [{ name: "app", image: "app:1" }] };

/** Returns the annotation's value after an injection. */
function exclusionOf(key: string, metadata: object, namespaceAnnotations: Readonly<Record<string, unknown>> = {}) {
  const pod = injectedPodOf({ metadata, spec: SPEC }, { request: { namespaceAnnotations } }) as AnnotatedPod;
  return pod.metadata?.annotations?.[key];
}

describe("Istio", () => {
  const inject = "sidecar.istio.io/inject";

  test.for([
    { title: "the namespace enables injection", namespace: { "istio-injection": "enabled" } },
    { title: "the namespace has a revision", namespace: { "istio.io/rev": "canary" } },
    { title: "the Pod's label enables injection", labels: { [inject]: "true" } },
    { title: "the Pod's annotation enables injection", annotations: { [inject]: "Yes" } },
    { title: "the Pod has a revision", labels: { "istio.io/rev": "canary" } },
    {
      title: "the Pod's label enables injection and the namespace disables it",
      labels: { [inject]: "true" },
      namespace: { "istio-injection": "disabled" },
    },
    {
      title: "the namespace enables injection and the Pod's label is empty",
      labels: { [inject]: "" },
      namespace: { "istio-injection": "enabled" },
    },
  ])("is expected if $title", ({ title: _, namespace, ...metadata }) => {
    expect(exclusionOf(ISTIO_ANNOTATION, metadata, namespace)).toBe("17890");
  });

  test.for([
    { title: "neither the Pod nor its namespace has a setting of Istio" },
    { title: "the namespace disables injection", namespace: { "istio-injection": "disabled" } },
    {
      title: "the namespace disables injection and has a revision",
      namespace: { "istio-injection": "disabled", "istio.io/rev": "canary" },
    },
    {
      title: "the namespace enables injection and the Pod's label disables it",
      labels: { [inject]: "false" },
      namespace: { "istio-injection": "enabled" },
    },
    {
      title: "the namespace enables injection and the Pod's annotation disables it",
      annotations: { [inject]: "false" },
      namespace: { "istio-injection": "enabled" },
    },
    {
      title: "the Pod's label disables injection and its annotation enables it",
      labels: { [inject]: "false" },
      annotations: { [inject]: "true" },
    },
    {
      title: "the Pod's label disables injection and the Pod has a revision",
      labels: { [inject]: "false", "istio.io/rev": "canary" },
    },
  ])("is not expected if $title", ({ title: _, namespace, ...metadata }) => {
    expect(exclusionOf(ISTIO_ANNOTATION, metadata, namespace)).toBeUndefined();
  });

  test("does not redirect the traffic of a gateway, so its ports are not excluded", () => {
    const router = { name: "istio-proxy", args: ["proxy", "router"] };
    for (const containers of [[{ name: "istio-proxy" }], [router, { name: "metrics" }]]) {
      const pod = injectedPodOf({ spec: { containers } }) as AnnotatedPod;
      expect(pod.metadata?.annotations).not.toHaveProperty([ISTIO_ANNOTATION]);
      expect(JSON.stringify(pod)).toContain("istio-proxy:app");
    }
  });

  test("ignores port exclusions of a namespace, so they are not copied to the Pod", () => {
    expect(exclusionOf(ISTIO_ANNOTATION, {}, { "istio-injection": "enabled", [ISTIO_ANNOTATION]: "25" })).toBe("17890");
  });
});

describe("Linkerd", () => {
  const linkerdNamespace = { "linkerd.io/inject": "enabled" };

  test("has default port exclusions, which lastcall's annotation repeats because the annotation replaces the defaults", () => {
    expect(exclusionOf(LINKERD_ANNOTATION, {}, linkerdNamespace)).toBe("4567,4568,17890");
  });

  test("has port exclusions of the namespace, which lastcall's annotation repeats on the Pod", () => {
    expect(exclusionOf(LINKERD_ANNOTATION, {}, { ...linkerdNamespace, [LINKERD_ANNOTATION]: "25,3306" })).toBe(
      "25,3306,17890",
    );
    expect(
      exclusionOf(LINKERD_ANNOTATION, {}, { ...linkerdNamespace, [LINKERD_ANNOTATION]: "10000-20000" }),
    ).toBeUndefined();
  });

  test("has port exclusions of the Pod, which override the namespace's exclusions", () => {
    expect(
      exclusionOf(
        LINKERD_ANNOTATION,
        { annotations: { [LINKERD_ANNOTATION]: "25" } },
        { ...linkerdNamespace, [LINKERD_ANNOTATION]: "3306" },
      ),
    ).toBe("25,17890");
    expect(
      exclusionOf(
        LINKERD_ANNOTATION,
        { annotations: { [LINKERD_ANNOTATION]: "" } },
        { ...linkerdNamespace, [LINKERD_ANNOTATION]: "3306" },
      ),
    ).toBe("17890");
  });

  test("does not have inherited port exclusions after an uninjection, unless another program edited the annotation", () => {
    const request = { namespaceAnnotations: { ...linkerdNamespace, [LINKERD_ANNOTATION]: "25" } };
    const pod = injectedPodOf({ metadata: { name: "web-0" }, spec: SPEC }, { request });
    expect(uninjectPod(pod)).toEqual({ kind: "uninjected", pod: { metadata: { name: "web-0" }, spec: SPEC } });
    expect(inject(pod, { request })).toMatchObject({ reason: "up_to_date" });
    const editedPod = structuredClone(pod) as { metadata: { annotations: { [key: string]: string } } };
    editedPod.metadata.annotations[LINKERD_ANNOTATION] = "25,17890,99";
    expect(uninjectPod(editedPod)).toMatchObject({
      pod: { metadata: { annotations: { [LINKERD_ANNOTATION]: "25,17890,99" } } },
    });
    // The next injection does not change a value that another program edited.
    const secondPod = injectedPodOf(editedPod, { request });
    expect(secondPod).toMatchObject({ metadata: { annotations: { [LINKERD_ANNOTATION]: "25,17890,99" } } });
    expect(inject(secondPod, { request })).toMatchObject({ reason: "up_to_date" });
  });
});

describe("an injected init container of a mesh", () => {
  const problemCodesWith = (name: string, args: string) =>
    problemCodesOf(inject({ spec: { ...SPEC, initContainers: [{ name, image: "init:1", args: args.split(" ") }] } }));

  test.for([
    { name: "istio-init", args: "-b * -d 15090,15021" },
    { name: "istio-init", args: "-b 8080,17890 -d 17890" },
    { name: "istio-init", args: "-o 17890" },
    { name: "linkerd-init", args: "--outbound-ports-to-ignore 17890" },
    { name: "linkerd-init", args: "--inbound-ports-to-ignore=4190,17891-17899" },
  ])("that redirects the manager's port is reported: $name $args", ({ name, args }) => {
    expect(problemCodesWith(name, args)).toEqual(["mesh_captures_port"]);
  });

  test.for([
    { name: "istio-init", args: "-b * -d 15090,17890" },
    { name: "istio-init", args: "--istio-inbound-ports=* --istio-local-exclude-ports=17890" },
    { name: "istio-init", args: "-b 8080 -d 15090" },
    { name: "istio-init", args: "-b  -d 15090" },
    { name: "linkerd-init", args: "--inbound-ports-to-ignore 4190,17000-18000" },
  ])("that excludes the manager's port is not reported: $name $args", ({ name, args }) => {
    expect(problemCodesWith(name, args)).toEqual([]);
  });
});

test("a mesh proxy's own sleep hook is replaced by a hook to the manager, and does not lengthen the app's drain delay", () => {
  const sleepHook = { preStop: { exec: { command: ["/bin/sleep", "40"] } } };
  const spec = { containers: [...SPEC.containers, { name: "linkerd-proxy", image: "proxy:1", lifecycle: sleepHook }] };
  const pod = JSON.stringify(injectedPodOf({ spec }));
  expect(pod).toContain("--drain-delay=5s");
  expect(pod).toContain("linkerd-proxy:mesh-proxy");
  expect(uninjectPod(injectedPodOf({ spec }))).toEqual({ kind: "uninjected", pod: { spec } });
});

test("a Pod whose app keeps its hook gets a manager for a regular mesh proxy or a configured driver, not for a detected driver", () => {
  const app = { name: "app", image: "app:1", lifecycle: { preStop: { exec: { command: ["/stop"] } } } };
  const proxy = { name: "istio-proxy", image: "proxyv2:1" };
  expect(inject({ spec: { containers: [app, proxy] } })).toMatchObject({ kind: "patched" });
  const nativeProxies = [{ ...proxy, restartPolicy: "Always" }];
  expect(inject({ spec: { containers: [app], initContainers: nativeProxies } })).toMatchObject({ reason: "own_hooks" });
  const driverSetting = { annotations: { "lastcall.dev/driver": "istio" } };
  const outcome = inject({ metadata: driverSetting, spec: { containers: [app], initContainers: nativeProxies } });
  expect(outcome).toMatchObject({ kind: "patched" });
});

test("the criterion `requests` is not available with Linkerd, whose driver does not count requests", () => {
  const metadata = { annotations: { "lastcall.dev/drained-when": "requests" } };
  const createPodWithProxy = (name: string) => ({
    metadata,
    spec: { containers: [...SPEC.containers, { name, image: "p:1" }] },
  });
  expect(problemCodesOf(inject(createPodWithProxy("linkerd-proxy")))).toEqual(["conflicting_values"]);
  expect(problemCodesOf(inject(createPodWithProxy("istio-proxy")))).toEqual([]);
});

const arbitraryNamespace = fc.record(
  {
    "istio-injection": fc.constantFrom("enabled", "disabled", ""),
    "istio.io/rev": fc.constantFrom("canary", ""),
    "linkerd.io/inject": fc.constantFrom("enabled", "ingress", "disabled"),
    [LINKERD_ANNOTATION]: fc.constantFrom("", "25", "25, 3306", "17000-18000", "nonsense"),
  },
  { requiredKeys: [] },
);

test("for any namespace annotations, injections are idempotent and an uninjection restores the Pod", () => {
  let exclusionCount = 0;
  fc.assert(
    fc.property(arbitraryPod, arbitraryNamespace, (pod, namespaceAnnotations) => {
      const outcome = inject(pod, { request: { namespaceAnnotations } });
      if (outcome.kind !== "patched") return;
      if (JSON.stringify(outcome.patch).match(/excludeInboundPorts|skip-inbound-ports/) !== null) exclusionCount += 1;
      expect(inject(outcome.pod, { request: { namespaceAnnotations } })).toMatchObject({ reason: "up_to_date" });
      const uninjection = uninjectPod(pod);
      const original = uninjection.kind === "uninjected" ? uninjection.pod : pod;
      expect(uninjectPod(outcome.pod)).toEqual({ kind: "uninjected", pod: original });
    }),
    { numRuns: 400 },
  );
  expect(exclusionCount).toBeGreaterThan(40);
}, 120_000);
