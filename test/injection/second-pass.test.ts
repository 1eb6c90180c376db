/** Tests second injections of one Pod, after changes by the API server and other webhooks. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { arbitraryPod } from "./arbitrary-pod.ts";
import { inject, injectedPodOf, problemCodesOf, TOKEN } from "./injector-inputs.ts";

type JsonObject = { [key: string]: unknown };
type MutablePod = {
  metadata: JsonObject;
  spec: { [key: string]: unknown; containers: JsonObject[]; initContainers: JsonObject[] };
};

function clonePod(pod: object): MutablePod {
  return JSON.parse(JSON.stringify(pod)) as MutablePod;
}

const WEB = {
  metadata: { name: "web-0" },
  spec: { terminationGracePeriodSeconds: 30, containers: [{ name: "app", image: "app:1" }] },
};

/** Returns a copy with the API server's defaults, and with the ServiceAccount token's mount in the manager. */
function addApiDefaults(pod: object): MutablePod {
  const storedPod = clonePod(pod);
  const { containers, initContainers } = storedPod.spec;
  for (const container of [...(containers ?? []), ...(initContainers ?? [])]) {
    container["imagePullPolicy"] ??= "IfNotPresent";
    container["terminationMessagePath"] ??= "/dev/termination-log";
    container["terminationMessagePolicy"] ??= "File";
    container["resources"] ??= {};
    const mounts = (container["volumeMounts"] ?? []) as unknown[];
    const token = { name: "kube-api-access-x", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" };
    if (container["name"] === "lastcall") container["volumeMounts"] = [...mounts, { ...token, readOnly: true }];
    const handler = (container["lifecycle"] as JsonObject | undefined)?.["preStop"] as JsonObject | undefined;
    const httpGet = handler?.["httpGet"] as JsonObject | undefined;
    if (httpGet !== undefined) httpGet["scheme"] ??= "HTTP";
    for (const entry of (container["env"] ?? []) as JsonObject[]) {
      const fieldRef = (entry["valueFrom"] as JsonObject | undefined)?.["fieldRef"] as JsonObject | undefined;
      if (fieldRef !== undefined) fieldRef["apiVersion"] ??= "v1";
    }
  }
  return storedPod;
}

test("a second injection does not change the API server's defaults in injected fields", { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(arbitraryPod, (pod) => {
      const first = inject(pod);
      if (first.kind !== "patched") return;
      expect(inject(addApiDefaults(first.pod), { token: "e".repeat(32) })).toMatchObject({ reason: "up_to_date" });
    }),
    { numRuns: 300 },
  );
});

test("a second injection does not change limits that a LimitRange adds to the manager", () => {
  const pod = clonePod(injectedPodOf(WEB));
  const manager = pod.spec.initContainers[0] as JsonObject;
  manager["resources"] = { requests: { cpu: "50m", memory: "32Mi" }, limits: { cpu: "50m", memory: "32Mi" } };
  expect(inject(pod)).toMatchObject({ reason: "up_to_date" });
});

test("a second injection does not change limits that a LimitRange adds to the manager's own limits", () => {
  const containers = [{ name: "app", image: "app:1", resources: { requests: { memory: "64Mi" } } }];
  const pod = clonePod(injectedPodOf({ ...WEB, spec: { containers } }));
  const manager = pod.spec.initContainers[0] as JsonObject;
  const resources = manager["resources"] as { readonly requests: JsonObject; readonly limits: JsonObject };
  expect(resources).toEqual({ requests: { memory: "2Mi" }, limits: { memory: "16Mi" } });
  manager["resources"] = {
    requests: { ...resources.requests, cpu: "100m" },
    limits: { ...resources.limits, cpu: "500m" },
  };
  expect(inject(pod)).toMatchObject({ reason: "up_to_date" });
});

test("a second injection does not change variables and mounts that other webhooks add to the manager", () => {
  const pod = clonePod(injectedPodOf(WEB));
  const manager = pod.spec.initContainers[0] as JsonObject;
  manager["env"] = [...(manager["env"] as unknown[]), { name: "AWS_ROLE_ARN", value: "x" }];
  expect(inject(pod)).toMatchObject({ reason: "up_to_date" });
});

test("a second injection accepts an image of the manager that a registry mirror rewrote", () => {
  const pod = clonePod(injectedPodOf(WEB));
  (pod.spec.initContainers[0] as JsonObject)["image"] = "mirror.local/cache/lastcall-manager:0.1.0";
  expect(inject(pod)).toMatchObject({ reason: "up_to_date" });
});

test("a second injection replaces the image of an older version and does not change the token", () => {
  const pod = clonePod(injectedPodOf(WEB));
  (pod.spec.initContainers[0] as JsonObject)["image"] = "registry.example/lastcall-manager:0.0.9";
  const secondPod = injectedPodOf(pod, { token: "e".repeat(32) });
  expect(secondPod).toEqual(injectedPodOf(WEB));
});

test("an injection by a replica of a newer version is not changed by the next injection of that version", () => {
  const newerInputs = { facts: { managerImage: "registry.example/lastcall-manager:0.2.0" } };
  const upgradedPod = injectedPodOf(injectedPodOf(WEB), newerInputs);
  expect(inject(upgradedPod, newerInputs)).toMatchObject({ reason: "up_to_date" });
});

test("a second injection restores a removed restartPolicy of the manager and reports a problem", () => {
  const pod = clonePod(injectedPodOf(WEB));
  delete (pod.spec.initContainers[0] as JsonObject)["restartPolicy"];
  const outcome = inject(pod);
  expect(problemCodesOf(outcome)).toEqual(["manager_repaired"]);
  expect(outcome).toMatchObject({ kind: "patched", pod: injectedPodOf(WEB) });
});

test("a second injection adds a hook and a port exclusion for a mesh proxy that another webhook appended", () => {
  const pod = clonePod(injectedPodOf(WEB));
  pod.spec.containers.push({ name: "istio-proxy", image: "istio/proxyv2" });
  const second = injectedPodOf(pod) as MutablePod;
  expect(second.spec.containers[1]).toMatchObject({
    lifecycle: { preStop: { httpGet: { path: `/${TOKEN}/prestop/istio-proxy`, port: 17_890 } } },
  });
  expect((second.spec.initContainers[0] as JsonObject)["args"]).toContain("--hooks=app:app,istio-proxy:mesh-proxy");
  expect(second.metadata["annotations"]).toMatchObject({
    "traffic.sidecar.istio.io/excludeInboundPorts": "17890",
  });
  expect(inject(second)).toMatchObject({ reason: "up_to_date" });
});

test("a second injection does not move an init container that another webhook prepended", () => {
  const pod = clonePod(injectedPodOf(WEB));
  pod.spec.initContainers.unshift({ name: "istio-validation", image: "istio/proxyv2" });
  expect(inject(pod)).toMatchObject({ reason: "up_to_date" });
});

test("a second injection recognises a hook that Istio's agent replaced", () => {
  const pod = clonePod(injectedPodOf(WEB));
  (pod.spec.containers[0] as JsonObject)["lifecycle"] = {
    preStop: { httpGet: { path: "/app-lifecycle/app/prestopz", port: 15_020 } },
  };
  expect(inject(pod)).toMatchObject({ reason: "up_to_date" });
  expect(uninjectPod(pod)).toEqual({ kind: "uninjected", pod: WEB });
});

test("a second injection changes the port of the manager and every hook if another container declares the manager's port", () => {
  const pod = clonePod(injectedPodOf(WEB));
  pod.spec.containers.push({ name: "late", image: "late:1", ports: [{ containerPort: 17_890 }] });
  const second = injectedPodOf(pod) as MutablePod;
  expect(second.spec.containers[0]).toMatchObject({ lifecycle: { preStop: { httpGet: { port: 17_891 } } } });
  expect((second.spec.initContainers[0] as JsonObject)["lifecycle"]).toEqual({
    preStop: { exec: { command: ["/lastcall", "drain", "--port=17891"] } },
  });
  expect(inject(second)).toMatchObject({ reason: "up_to_date" });
});

test("a grace period that was raised after the injection stays, even after an uninjection", () => {
  const pod = clonePod(injectedPodOf(WEB));
  pod.spec["terminationGracePeriodSeconds"] = 500;
  expect(inject(pod)).toMatchObject({ reason: "up_to_date" });
  expect(uninjectPod(pod)).toMatchObject({ pod: { spec: { terminationGracePeriodSeconds: 500 } } });
});

test("a second injection raises a grace period again that another policy lowered", () => {
  const pod = clonePod(injectedPodOf(WEB));
  pod.spec["terminationGracePeriodSeconds"] = 60;
  expect(inject(pod)).toMatchObject({ kind: "patched", pod: { spec: { terminationGracePeriodSeconds: 100 } } });
});

test("a longer drain timeout on a copied Pod is added to the original grace period", () => {
  const pod = clonePod(injectedPodOf(WEB));
  pod.metadata["annotations"] = { ...(pod.metadata["annotations"] as JsonObject), "lastcall.dev/drain-timeout": "90s" };
  expect(injectedPodOf(pod)).toMatchObject({ spec: { terminationGracePeriodSeconds: 130 } });
});

test("a replica without node data does not change a native manager to a classic manager", () => {
  const withNodeData = { facts: { apiServerVersion: "1.30", lowestKubeletVersion: "1.29.4" } };
  const withoutNodeData = { facts: { apiServerVersion: "1.30", lowestKubeletVersion: undefined } };
  expect(inject(injectedPodOf(WEB, withNodeData), withoutNodeData)).toMatchObject({ reason: "up_to_date" });
});

test("a second injection renews a missing hook token in the manager and in every hook", () => {
  const pod = clonePod(injectedPodOf(WEB));
  const manager = pod.spec.initContainers[0] as JsonObject;
  manager["env"] = (manager["env"] as JsonObject[]).filter((entry) => entry["name"] !== "LASTCALL_TOKEN");
  const second = injectedPodOf(pod, { token: "e".repeat(32) }) as MutablePod;
  expect(second.spec.containers[0]).toMatchObject({
    lifecycle: { preStop: { httpGet: { path: `/${"e".repeat(32)}/prestop/app` } } },
  });
  expect(inject(second)).toMatchObject({ reason: "up_to_date" });
});

test("a forged status annotation does not affect an injection", () => {
  const forgedPod = {
    ...WEB,
    metadata: { annotations: { "lastcall.dev/status": '{"version":"0.1.0","mode":"native"}' } },
  };
  expect(inject(forgedPod)).toMatchObject({ kind: "patched", mode: "native" });
  expect(uninjectPod(forgedPod)).toEqual({ kind: "not-injected" });
  const sleepStatus = '{"version":"0.1.0","mode":"sleep","seconds":5,"hooks":["app"],"original":{"grace":30}}';
  expect(uninjectPod({ ...WEB, metadata: { annotations: { "lastcall.dev/status": sleepStatus } } })).toEqual({
    kind: "not-injected",
  });
});

test("an injected Pod without its annotations is recognised and can be uninjected", () => {
  const pod = clonePod(injectedPodOf(WEB));
  pod.metadata = { name: "web-0-copy" };
  expect(uninjectPod(pod)).toEqual({ kind: "uninjected", pod: { ...WEB, metadata: { name: "web-0-copy" } } });
});

test("an uninjection does not remove another program's hook that replaced the injected hook", () => {
  const pod = clonePod(injectedPodOf(WEB));
  const otherHook = { preStop: { exec: { command: ["theirs"] } } };
  (pod.spec.containers[0] as JsonObject)["lifecycle"] = otherHook;
  expect(uninjectPod(pod)).toEqual({
    kind: "uninjected",
    pod: {
      ...WEB,
      spec: { ...WEB.spec, containers: [{ name: "app", image: "app:1", lifecycle: otherHook }] },
    },
  });
});
