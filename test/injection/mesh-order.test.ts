/** Injection beside the injectors of meshes, in both orders of the webhooks. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { codes, type Given, inject, injected, TOKEN } from "./injector-inputs.ts";
import { INJECTORS, type Injector, type MeshPod } from "./mesh-injectors.ts";

const NAMESPACE = { "istio-injection": "enabled", "linkerd.io/inject": "enabled" };
const GIVEN: Given = { request: { namespaceAnnotations: NAMESPACE } };

/** A Deployment's Pod: nothing in it names a mesh. */
const WEB = {
  metadata: { name: "web-0", annotations: { team: "shop" } },
  spec: {
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        name: "app",
        image: "app:1",
        ports: [{ containerPort: 8080 }],
        livenessProbe: { httpGet: { path: "/live", port: 8080 } },
      },
    ],
  },
};

const EXCLUSIONS = ["traffic.sidecar.istio.io/excludeInboundPorts", "config.linkerd.io/skip-inbound-ports"];

function named(pod: object, name: string): { readonly [key: string]: unknown } {
  const { containers, initContainers = [] } = (pod as MeshPod).spec;
  const found = [...initContainers, ...containers].find((container) => container.name === name);
  if (found === undefined) throw new Error(`no container ${name}`);
  return found;
}

function preStopOf(pod: object, name: string): unknown {
  return (named(pod, name)["lifecycle"] as { readonly preStop?: unknown } | undefined)?.preStop;
}

function argsOf(pod: object, name: string): string {
  return (named(pod, name)["args"] as string[]).join(" ");
}

const INJECTOR_ENTRIES = Object.entries(INJECTORS).map(([mesh, injector]) => {
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

type Entry = (typeof INJECTOR_ENTRIES)[number];

/** Runs lastcall, the mesh, and lastcall again because the Pod changed. */
function oursTheirsOurs({ injector }: { readonly injector: Injector }, given: Given = GIVEN) {
  const theirs = injector(injected(WEB, given));
  const outcome = inject(theirs, given);
  return { theirs, outcome, pod: outcome.kind === "patched" ? outcome.pod : theirs };
}

function heldBy(proxy: string) {
  return { httpGet: { path: `/${TOKEN}/prestop/${proxy}`, port: 17_890 } };
}

describe.for(INJECTOR_ENTRIES)("$mesh", (entry: Entry) => {
  const { injector, proxy, init, driver, native } = entry;

  test("if lastcall runs after the mesh, the manager's port is excluded, without a warning", () => {
    const { outcome, pod } = oursTheirsOurs(entry);
    expect(argsOf(pod, init)).toContain("17890");
    expect(codes(outcome)).toEqual([]);
    expect(argsOf(pod, "lastcall")).toContain(`--driver=${driver} `);
    expect(inject(pod, { ...GIVEN, token: "e".repeat(32) })).toMatchObject({ reason: "up_to_date" });
  });

  test("if lastcall runs before the mesh, hooks work, and a problem reports the missing port exclusion", () => {
    const theirs = injector(WEB);
    const outcome = inject(theirs, GIVEN);
    if (outcome.kind !== "patched") throw new Error("not patched");
    expect(codes(outcome)).toEqual(["mesh_captures_port"]);
    const [problem] = outcome.explanation.problems;
    const exclusion = EXCLUSIONS.find((key) => problem?.message.includes(key)) ?? "";
    const value = (outcome.pod as MeshPod).metadata.annotations?.[exclusion];
    expect(problem?.message).toContain(`${exclusion}: "${value}"`);
    expect(inject(outcome.pod, GIVEN)).toMatchObject({ reason: "up_to_date" });
    expect(uninjectPod(outcome.pod)).toEqual({ kind: "uninjected", pod: theirs });
  });

  test("a template with the annotation from that message has no problem", () => {
    const outcome = inject(injector(WEB), GIVEN);
    const annotations = (outcome.kind === "patched" ? (outcome.pod as MeshPod) : undefined)?.metadata.annotations;
    const named = Object.entries(annotations ?? {}).filter(([key]) => EXCLUSIONS.includes(key));
    const template = { ...WEB, metadata: { name: "web-0", annotations: Object.fromEntries(named) } };
    expect(codes(inject(injector(template), GIVEN))).toEqual([]);
  });

  test(native ? "a native mesh proxy has its own hook unchanged" : "a regular mesh proxy stops after the app", () => {
    const before = preStopOf(injector(WEB), proxy);
    for (const pod of [oursTheirsOurs(entry).pod, injected(injector(WEB), GIVEN)]) {
      expect(preStopOf(pod, proxy)).toEqual(native ? before : heldBy(proxy));
      expect(argsOf(pod, "lastcall").includes(`${proxy}:mesh-proxy`)).toBe(!native);
    }
  });

  test("an uninjection removes lastcall's annotations and no part of the mesh", () => {
    const back = uninjectPod(oursTheirsOurs(entry).pod);
    if (back.kind !== "uninjected") throw new Error("not injected");
    const pod = back.pod as MeshPod;
    expect(pod.metadata.annotations).toEqual(WEB.metadata.annotations);
    const names = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map((container) => container.name);
    expect(names.toSorted()).toEqual(["app", init, proxy].toSorted());
    expect(preStopOf(pod, "app")).toBeUndefined();
    expect(pod.spec["terminationGracePeriodSeconds"]).toBe(30);
  });

  test("a classic manager works in both orders of the webhooks", () => {
    const old: Given = { ...GIVEN, facts: { apiServerVersion: "v1.28.3", lowestKubeletVersion: "v1.28.3" } };
    for (const pod of [oursTheirsOurs(entry, old).pod, injected(injector(WEB), old)]) {
      expect((pod as MeshPod).spec.containers.at(-1)?.name).toBe("lastcall");
      expect(preStopOf(pod, proxy)).toEqual(native ? preStopOf(injector(WEB), proxy) : heldBy(proxy));
      expect(inject(pod, old)).toMatchObject({ reason: "up_to_date" });
    }
  });
});

test("a second injection recognises the hook that Istio's agent calls for the kubelet", () => {
  const { theirs, pod } = oursTheirsOurs({ injector: INJECTORS["Istio with a native proxy"] as Injector });
  const taken = { httpGet: { path: "/app-lifecycle/app/prestopz", port: 15_020 } };
  expect(preStopOf(theirs, "app")).toEqual(taken);
  expect(preStopOf(pod, "app")).toEqual(taken);
  expect(argsOf(pod, "lastcall")).toContain("--hooks=app:app");
  // The kubelet's probes then go to the agent.
  expect(argsOf(pod, "lastcall")).toContain("--kubelet-probes=15021:15s,15021:1s,15020:10s");
});

test("in a Pod not recognised as Istio's, a hook replaced by Istio's agent is safe", () => {
  const withoutNamespaceAnnotations: Given = { request: { namespaceAnnotations: {} } };
  const native = oursTheirsOurs(
    { injector: INJECTORS["Istio with a native proxy"] as Injector },
    withoutNamespaceAnnotations,
  );
  expect(argsOf(native.pod, "istio-init")).not.toContain("17890");
  expect(codes(native.outcome)).toEqual([]);
  const regular = oursTheirsOurs(
    { injector: INJECTORS["Istio with a regular proxy"] as Injector },
    withoutNamespaceAnnotations,
  );
  expect(codes(regular.outcome)).toEqual(["mesh_captures_port"]);
});

test("a hook that calls Istio's agent with an old port calls the manager again after a second injection", () => {
  const { pod } = oursTheirsOurs({ injector: INJECTORS["Istio with a native proxy"] as Injector });
  const late = structuredClone(pod) as MeshPod;
  late.spec.containers.push({ name: "late", image: "late:1", ports: [{ containerPort: 17_890 }] });
  const again = injected(late, GIVEN);
  expect(preStopOf(again, "app")).toEqual({ httpGet: { path: `/${TOKEN}/prestop/app`, port: 17_891 } });
  expect(inject(again, GIVEN)).toMatchObject({ reason: "up_to_date" });
});

test("the fake of Istio's injector replaces probes and hooks as recorded from the real one", () => {
  const golden = join(import.meta.dirname, "../golden/istio-rewrote-hooks/input.yaml");
  const recorded = parse(readFileSync(golden, "utf8")) as MeshPod;
  const [hello] = recorded.spec.containers;
  const written = {
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
  const pod = INJECTORS["Istio with a native proxy"]?.(written) as MeshPod;
  expect(preStopOf(pod, "hello")).toEqual(preStopOf(recorded, "hello"));
  expect(named(pod, "hello")["livenessProbe"]).toEqual(hello?.["livenessProbe"]);
  expect(named(pod, "hello")["readinessProbe"]).toEqual(hello?.["readinessProbe"]);
  const probersIn = (of: object) => {
    const env = named(of, "istio-proxy")["env"] as { name: string; value: string }[];
    return JSON.parse(env.find(({ name }) => name === "ISTIO_KUBE_APP_PROBERS")?.value ?? "{}") as object;
  };
  expect(probersIn(recorded)).toMatchObject(probersIn(pod));
});
