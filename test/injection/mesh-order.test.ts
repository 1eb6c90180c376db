/** Tests injection together with the injectors of meshes, which the API server may call before or after lastcall's webhook. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { type InjectorInputs, inject, injectedPodOf, problemCodesOf, TOKEN } from "./injector-inputs.ts";
import { INJECTORS, type Injector, type MeshPod } from "./mesh-injectors.ts";

const NAMESPACE = { "istio-injection": "enabled", "linkerd.io/inject": "enabled" };
const MESH_NAMESPACE_INPUTS: InjectorInputs = { request: { namespaceAnnotations: NAMESPACE } };

/** A Deployment's Pod without labels and annotations of a mesh. */
const WEB = {
  metadata: { name: "web-0", annotations: { team: "shop" } },
  spec: {
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        name: "app",
        image: "app:1",
        ports: [{ containerPort: 8080 }],
        readinessProbe: { httpGet: { path: "/ready", port: 8080 } },
      },
    ],
  },
};

const EXCLUSIONS = ["traffic.sidecar.istio.io/excludeInboundPorts", "config.linkerd.io/skip-inbound-ports"];

function containerNamed(pod: object, name: string): { readonly [key: string]: unknown } {
  const { containers, initContainers = [] } = (pod as MeshPod).spec;
  const found = [...initContainers, ...containers].find((container) => container.name === name);
  if (found === undefined) throw new Error(`no container ${name}`);
  return found;
}

function preStopOf(pod: object, name: string): unknown {
  return (containerNamed(pod, name)["lifecycle"] as { readonly preStop?: unknown } | undefined)?.preStop;
}

function argsOf(pod: object, name: string): string {
  return (containerNamed(pod, name)["args"] as string[]).join(" ");
}

const MESH_CASES = Object.entries(INJECTORS).map(([mesh, injector]) => {
  const name = mesh.startsWith("Istio") ? "istio" : "linkerd";
  return {
    mesh,
    injector,
    proxy: `${name}-proxy`,
    init: `${name}-init`,
    driver: name,
    native: mesh.includes("native"),
  };
});

type MeshCase = (typeof MESH_CASES)[number];

/** Runs lastcall, the mesh's injector, and lastcall again, because API servers reinvoke webhooks for a changed Pod. */
function injectAroundMesh(
  { injector }: { readonly injector: Injector },
  inputs: InjectorInputs = MESH_NAMESPACE_INPUTS,
) {
  const afterMesh = injector(injectedPodOf(WEB, inputs));
  const outcome = inject(afterMesh, inputs);
  return { afterMesh, outcome, pod: outcome.kind === "patched" ? outcome.pod : afterMesh };
}

function holdHandlerOf(proxy: string) {
  return { httpGet: { path: `/${TOKEN}/prestop/${proxy}`, port: 17_890 } };
}

describe.for(MESH_CASES)("in a Pod of $mesh", (entry: MeshCase) => {
  const { injector, proxy, init, driver, native } = entry;

  test("if lastcall runs before the mesh's injector, the manager's port is excluded, without a warning", () => {
    const { outcome, pod } = injectAroundMesh(entry);
    expect(argsOf(pod, init)).toContain("17890");
    expect(problemCodesOf(outcome)).toEqual([]);
    expect(argsOf(pod, "lastcall")).toContain(`--driver=${driver} `);
    expect(inject(pod, { ...MESH_NAMESPACE_INPUTS, token: "e".repeat(32) })).toMatchObject({ reason: "up_to_date" });
  });

  test("if lastcall runs only after the mesh's injector, a problem reports the missing port exclusion", () => {
    const afterMesh = injector(WEB);
    const outcome = inject(afterMesh, MESH_NAMESPACE_INPUTS);
    if (outcome.kind !== "patched") throw new Error("not patched");
    expect(problemCodesOf(outcome)).toEqual(["mesh_captures_port"]);
    const [problem] = outcome.explanation.problems;
    const exclusion = EXCLUSIONS.find((key) => problem?.message.includes(key)) ?? "";
    const value = (outcome.pod as MeshPod).metadata.annotations?.[exclusion];
    expect(problem?.message).toContain(`${exclusion}: "${value}"`);
    expect(inject(outcome.pod, MESH_NAMESPACE_INPUTS)).toMatchObject({ reason: "up_to_date" });
    expect(uninjectPod(outcome.pod)).toEqual({ kind: "uninjected", pod: afterMesh });
  });

  test("a Pod template with the port exclusion that the problem names does not have the problem", () => {
    const outcome = inject(injector(WEB), MESH_NAMESPACE_INPUTS);
    const annotations = (outcome.kind === "patched" ? (outcome.pod as MeshPod) : undefined)?.metadata.annotations;
    const exclusions = Object.entries(annotations ?? {}).filter(([key]) => EXCLUSIONS.includes(key));
    const template = { ...WEB, metadata: { name: "web-0", annotations: Object.fromEntries(exclusions) } };
    expect(problemCodesOf(inject(injector(template), MESH_NAMESPACE_INPUTS))).toEqual([]);
  });

  test(native ? "a native mesh proxy keeps its own hook" : "a regular mesh proxy stops after the app", () => {
    const originalPreStop = preStopOf(injector(WEB), proxy);
    for (const pod of [injectAroundMesh(entry).pod, injectedPodOf(injector(WEB), MESH_NAMESPACE_INPUTS)]) {
      expect(preStopOf(pod, proxy)).toEqual(native ? originalPreStop : holdHandlerOf(proxy));
      expect(argsOf(pod, "lastcall").includes(`${proxy}:mesh-proxy`)).toBe(!native);
    }
  });

  test("an uninjection removes lastcall's changes and keeps the mesh's containers", () => {
    const uninjection = uninjectPod(injectAroundMesh(entry).pod);
    if (uninjection.kind !== "uninjected") throw new Error("not injected");
    const pod = uninjection.pod as MeshPod;
    expect(pod.metadata.annotations).toEqual(WEB.metadata.annotations);
    const names = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map((container) => container.name);
    expect(names.toSorted()).toEqual(["app", init, proxy].toSorted());
    expect(preStopOf(pod, "app")).toBeUndefined();
    expect(pod.spec["terminationGracePeriodSeconds"]).toBe(30);
  });

  test("a classic manager is the last container in both orders of the webhooks, and a second injection does not change it", () => {
    const oldCluster: InjectorInputs = {
      ...MESH_NAMESPACE_INPUTS,
      facts: { apiServerVersion: "v1.28.3", lowestKubeletVersion: "v1.28.3" },
    };
    for (const pod of [injectAroundMesh(entry, oldCluster).pod, injectedPodOf(injector(WEB), oldCluster)]) {
      expect((pod as MeshPod).spec.containers.at(-1)?.name).toBe("lastcall");
      expect(preStopOf(pod, proxy)).toEqual(native ? preStopOf(injector(WEB), proxy) : holdHandlerOf(proxy));
      expect(inject(pod, oldCluster)).toMatchObject({ reason: "up_to_date" });
    }
  });
});

test("a second injection recognises a hook that Istio's injector rewrote", () => {
  const { afterMesh, pod } = injectAroundMesh({ injector: INJECTORS["Istio with a native proxy"] as Injector });
  const rewrittenHook = { httpGet: { path: "/app-lifecycle/app/prestopz", port: 15_020 } };
  expect(preStopOf(afterMesh, "app")).toEqual(rewrittenHook);
  expect(preStopOf(pod, "app")).toEqual(rewrittenHook);
  expect(argsOf(pod, "lastcall")).toContain("--hooks=app:app");
  // After Istio's injection the kubelet sends its probes to Istio's agent.
  expect(argsOf(pod, "lastcall")).toContain("--kubelet-probes=15021:15s,15020:10s");
});

test("in a namespace without Istio's label, a redirect of the manager's port is reported only if the kubelet sends a hook to that port", () => {
  const withoutNamespaceAnnotations: InjectorInputs = { request: { namespaceAnnotations: {} } };
  const nativeResult = injectAroundMesh(
    { injector: INJECTORS["Istio with a native proxy"] as Injector },
    withoutNamespaceAnnotations,
  );
  expect(argsOf(nativeResult.pod, "istio-init")).not.toContain("17890");
  expect(problemCodesOf(nativeResult.outcome)).toEqual([]);
  const regularResult = injectAroundMesh(
    { injector: INJECTORS["Istio with a regular proxy"] as Injector },
    withoutNamespaceAnnotations,
  );
  expect(problemCodesOf(regularResult.outcome)).toEqual(["mesh_captures_port"]);
});

test("a second injection replaces a rewritten hook that Istio's agent forwards to an earlier port of the manager", () => {
  const { pod } = injectAroundMesh({ injector: INJECTORS["Istio with a native proxy"] as Injector });
  const laterPod = structuredClone(pod) as MeshPod;
  laterPod.spec.containers.push({ name: "late", image: "late:1", ports: [{ containerPort: 17_890 }] });
  const secondPod = injectedPodOf(laterPod, MESH_NAMESPACE_INPUTS);
  expect(preStopOf(secondPod, "app")).toEqual({ httpGet: { path: `/${TOKEN}/prestop/app`, port: 17_891 } });
  expect(inject(secondPod, MESH_NAMESPACE_INPUTS)).toMatchObject({ reason: "up_to_date" });
});

test("the fake of Istio's injector replaces probes and hooks as recorded from the real injector", () => {
  const golden = join(import.meta.dirname, "../golden/istio-rewrote-hooks/input.yaml");
  const recordedPod = parse(readFileSync(golden, "utf8")) as MeshPod;
  const [hello] = recordedPod.spec.containers;
  const original = {
    metadata: {},
    spec: {
      containers: [
        {
          ...hello,
          lifecycle: { preStop: { httpGet: { port: 91 } } },
          livenessProbe: { httpGet: { port: 80 } },
          readinessProbe: { httpGet: { port: 3333 } },
        },
      ],
    },
  };
  const pod = INJECTORS["Istio with a native proxy"]?.(original) as MeshPod;
  expect(preStopOf(pod, "hello")).toEqual(preStopOf(recordedPod, "hello"));
  expect(containerNamed(pod, "hello")["livenessProbe"]).toEqual(hello?.["livenessProbe"]);
  expect(containerNamed(pod, "hello")["readinessProbe"]).toEqual(hello?.["readinessProbe"]);
  const probersIn = (pod: object) => {
    const env = containerNamed(pod, "istio-proxy")["env"] as { name: string; value: string }[];
    return JSON.parse(env.find(({ name }) => name === "ISTIO_KUBE_APP_PROBERS")?.value ?? "{}") as object;
  };
  expect(probersIn(recordedPod)).toMatchObject(probersIn(pod));
});
