import { describe, expect, test } from "vitest";
import { formatDuration, parseDurationMs } from "../../src/contract/duration.ts";
import { readSettings } from "../../src/webhook/config.ts";
import { parseConfigText } from "../../src/webhook/config-file.ts";
import { LOG_LEVELS } from "../../src/webhook/settings.ts";
import { at, listOf, type Manifest, ofKind, onlyOfKind, render, renderText, type Values } from "./rendering.ts";
import { MATRIX, MATRIX_NAMES } from "./values-matrix.ts";

function podSpecOf(values: Values = {}): unknown {
  return at(onlyOfKind(render(values), "Deployment"), "spec", "template", "spec");
}

function argsOf(values: Values = {}): readonly string[] {
  return listOf<string>(podSpecOf(values), "containers", 0, "args");
}

function configOf(values: Values): string {
  const map = ofKind(render(values), "ConfigMap").find(({ metadata }) => metadata.name.endsWith("-config"));
  return String(at(map, "data", "config.yaml"));
}

describe.for(MATRIX_NAMES)("the webhook server with %s", (name) => {
  const values = MATRIX[name] ?? {};

  test("accepts every flag that the chart sets", () => {
    const [command, ...flags] = argsOf(values);
    expect(command).toBe("webhook");
    expect(readSettings(flags, {}).problems).toEqual([]);
  });

  test("reads its configuration file without a problem", () => {
    const read = parseConfigText(configOf(values), "config.yaml");
    expect(read.problems).toEqual([]);
    expect(read.config).toMatchObject({ onInvalid: "warn", ...(values["policy"] as object | undefined) });
  });

  test("meets the restricted Pod Security Standard", () => {
    const pod = podSpecOf(values);
    expect(at(pod, "securityContext")).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(at(pod, "containers", 0, "securityContext")).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("mounts every file of its flags", () => {
    const volumeMounts = listOf<{ readonly mountPath: string }>(podSpecOf(values), "containers", 0, "volumeMounts");
    const files = argsOf(values).flatMap((arg) => /=(\/.*)\/[^/]+$/.exec(arg)?.[1] ?? []);
    const mountPaths = volumeMounts.map(({ mountPath }) => mountPath).filter((path) => path !== "/extra");
    expect([...new Set(files)].sort()).toEqual(mountPaths.sort());
    const namedMounts = listOf<{ readonly name: string }>(podSpecOf(values), "containers", 0, "volumeMounts");
    const volumes = listOf<{ readonly name: string }>(podSpecOf(values), "volumes");
    expect(namedMounts.map((mount) => mount.name)).toEqual(volumes.map((volume) => volume.name));
  });
});

test("the memory limit is larger with the relay, unless a limit is configured", () => {
  const limitOf = (values: Values): unknown => at(podSpecOf(values), "containers", 0, "resources", "limits", "memory");
  expect(limitOf({})).toBe("1280Mi");
  expect(limitOf({ relay: { enabled: false } })).toBe("512Mi");
  expect(limitOf({ webhook: { resources: { limits: { memory: "2Gi" } } } })).toBe("2Gi");
});

test("the server runs as user 65532, or as a user that the cluster selects on OpenShift or if runAsUser is null", () => {
  const openShift = { args: ["--api-versions", "security.openshift.io/v1"] };
  const userOf = (runAsUser: unknown, options = {}): unknown => {
    const pod = at(onlyOfKind(render({ webhook: { runAsUser } }, options), "Deployment"), "spec", "template", "spec");
    return [at(pod, "securityContext", "runAsUser"), at(pod, "securityContext", "runAsGroup")];
  };
  expect(userOf("auto")).toEqual([65_532, 65_532]);
  expect(userOf("auto", openShift)).toEqual([undefined, undefined]);
  expect(userOf(null)).toEqual([undefined, undefined]);
  expect(userOf(1_000, openShift)).toEqual([1_000, 1_000]);
});

test("a change of the client CA causes a rollout, and the server's flag has the CA's path", () => {
  const values = MATRIX["a client CA"] ?? {};
  const checksumOf = (configured: Values): unknown =>
    at(onlyOfKind(render(configured), "Deployment"), "spec", "template", "metadata", "annotations", "checksum/config");
  expect(checksumOf(values)).not.toBe(checksumOf({}));
  expect(argsOf(values)).toContain("--client-ca=/etc/lastcall/config/client-ca.crt");
  const map = ofKind(render(values), "ConfigMap").find(({ metadata }) => metadata.name === "lastcall-config");
  expect(at(map, "data", "client-ca.crt")).toMatch(/^-----BEGIN CERTIFICATE-----\nAAAA\n/);
});

test.for(["5s", "500ms", "1m", "1501ms", "0s"])("a drain delay of %s leaves 30 s for open requests", (drainDelay) => {
  const graceSeconds = Number(at(podSpecOf({ webhook: { drainDelay } }), "terminationGracePeriodSeconds"));
  expect(argsOf({ webhook: { drainDelay } })).toContain(`--drain-delay=${drainDelay}`);
  const ms = parseDurationMs(drainDelay) ?? Number.NaN;
  expect(graceSeconds).toBe(Math.ceil(ms / 1000) + 40);
  expect(formatDuration(ms)).toBeTypeOf("string");
});

test("a rollout stops a replica only after a new one is ready, and replicas are spread over nodes", () => {
  const deployment = onlyOfKind(render(), "Deployment");
  expect(at(deployment, "spec", "replicas")).toBe(2);
  expect(at(deployment, "spec", "strategy", "rollingUpdate")).toEqual({ maxUnavailable: 0, maxSurge: 1 });
  const spread = listOf<{ readonly topologyKey: string }>(podSpecOf(), "topologySpreadConstraints");
  expect(spread.map(({ topologyKey }) => topologyKey)).toEqual([
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
  ]);
  expect(at(podSpecOf(), "priorityClassName")).toBe("system-cluster-critical");
});

test("a configured rollout strategy replaces the chart's, even with hostNetwork", () => {
  const strategyOf = (webhook: object) =>
    at(onlyOfKind(render({ webhook, relay: { adminPort: 0 } }), "Deployment"), "spec", "strategy");
  expect(strategyOf({ strategy: { type: "Recreate" }, hostNetwork: true })).toEqual({ type: "Recreate" });
  const strategy = { rollingUpdate: { maxUnavailable: 0, maxSurge: "50%" } };
  expect(strategyOf({ strategy: strategy })).toEqual(strategy);
});

test("the Service has the configured IP families, or the cluster's default", () => {
  const familiesOf = (values: Values) => {
    const { ipFamilies, ipFamilyPolicy } = onlyOfKind(render(values), "Service")["spec"] as Record<string, unknown>;
    return [ipFamilyPolicy, ipFamilies];
  };
  expect(familiesOf({})).toEqual([undefined, undefined]);
  const dualStack = MATRIX["two address families and a slow rollout"] ?? {};
  expect(familiesOf(dualStack)).toEqual(["RequireDualStack", ["IPv6", "IPv4"]]);
  expect(familiesOf({ webhook: { ipFamilyPolicy: "PreferDualStack" } })).toEqual(["PreferDualStack", undefined]);
});

test("with hostNetwork, a rollout stops a replica before it starts one, since two cannot share a node's port", () => {
  const deployment = onlyOfKind(render(MATRIX["the host's network"]), "Deployment");
  expect(at(deployment, "spec", "strategy", "rollingUpdate")).toEqual({ maxUnavailable: 1, maxSurge: 0 });
  expect(at(deployment, "spec", "template", "spec")).toMatchObject({
    hostNetwork: true,
    dnsPolicy: "ClusterFirstWithHostNet",
  });
});

test("the Service, the disruption budget and the spread constraints select the server's Pods and not the self-test's", () => {
  const manifests = render();
  const serverLabels = at(onlyOfKind(manifests, "Deployment"), "spec", "template", "metadata", "labels");
  const selfTestLabels = manifests.find(({ kind }) => kind === "Pod")?.metadata.labels;
  const selectors = [
    at(onlyOfKind(manifests, "Service"), "spec", "selector"),
    at(onlyOfKind(manifests, "Deployment"), "spec", "selector", "matchLabels"),
    at(onlyOfKind(manifests, "PodDisruptionBudget"), "spec", "selector", "matchLabels"),
    ...listOf(podSpecOf(), "topologySpreadConstraints").map((constraint) =>
      at(constraint, "labelSelector", "matchLabels"),
    ),
  ];
  for (const selector of selectors) {
    expect(serverLabels).toMatchObject(selector as object);
    expect(selfTestLabels).not.toMatchObject(selector as object);
  }
});

test("configured labels and annotations never replace the chart's, on which selectors depend", () => {
  const podLabels = { "app.kubernetes.io/component": "user", team: "platform" };
  const podAnnotations = { "checksum/config": "user", note: "user" };
  const metadata = at(
    onlyOfKind(render({ webhook: { podLabels, podAnnotations } }), "Deployment"),
    "spec",
    "template",
    "metadata",
  );
  expect(at(metadata, "labels")).toMatchObject({ "app.kubernetes.io/component": "webhook", team: "platform" });
  expect(at(metadata, "annotations")).toMatchObject({ note: "user" });
  expect(at(metadata, "annotations", "checksum/config")).toMatch(/^[0-9a-f]{64}$/);
});

test("the Service forwards 443 to the server's port, as HTTPS", () => {
  const manifests = render({ webhook: { port: 10_250 } });
  expect(at(onlyOfKind(manifests, "Service"), "spec", "ports")).toEqual([
    { name: "https", port: 443, targetPort: "https", protocol: "TCP", appProtocol: "https" },
    { name: "relay", port: 8_444, targetPort: "relay", protocol: "TCP", appProtocol: "https" },
  ]);
  const container = at(onlyOfKind(manifests, "Deployment"), "spec", "template", "spec", "containers", 0);
  expect(listOf(container, "ports")[0]).toEqual({ name: "https", containerPort: 10_250, protocol: "TCP" });
  expect(at(container, "args")).toContain("--port=10250");
  for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"]) {
    const path = probe === "readinessProbe" ? "/readyz" : "/healthz";
    expect(at(container, probe, "httpGet")).toEqual({ path, port: "https", scheme: "HTTPS" });
  }
});

test("a changed drain policy causes a rollout, and an unchanged one does not", () => {
  const checksumOf = (values: Values) =>
    at(onlyOfKind(render(values), "Deployment"), "spec", "template", "metadata", "annotations", "checksum/config");
  const changedPolicy = { policy: { defaults: { "drain-timeout": "90s" } } };
  expect(checksumOf({})).toBe(checksumOf({ webhook: { replicas: 3 } }));
  expect(checksumOf(changedPolicy)).not.toBe(checksumOf({}));
});

test("an image reference has the configured registry, tag and digest", () => {
  const imagesOf = (values: Values) => {
    const manager = argsOf(values).find((arg) => arg.startsWith("--image="));
    return [at(podSpecOf(values), "containers", 0, "image"), manager?.slice("--image=".length)];
  };
  expect(imagesOf({})).toEqual(["lastcall-webhook:0.1.0", "lastcall-manager:0.1.0"]);
  expect(imagesOf({ image: { registry: "registry.example/", manager: { tag: "edge" } } })).toEqual([
    "registry.example/lastcall-webhook:0.1.0",
    "registry.example/lastcall-manager:edge",
  ]);
  const digest = `sha256:${"0".repeat(64)}`;
  expect(imagesOf({ image: { webhook: { tag: "1", digest } } })[0]).toBe(`lastcall-webhook@${digest}`);
});

describe("additional labels, flags and volumes in the chart's values", () => {
  const values = MATRIX["common labels, extra volumes and pull secrets"] ?? {};
  const manifests = render(values);

  test("add labels to every object and keep the chart's own", () => {
    for (const { kind, metadata } of manifests) {
      const { team, "app.kubernetes.io/name": name } = metadata.labels ?? {};
      expect([kind, team, name]).toEqual([kind, "platform", "lastcall"]);
    }
    const server = at(onlyOfKind(manifests, "Deployment"), "spec", "template", "metadata", "labels");
    expect(server).toMatchObject({ "app.kubernetes.io/component": "webhook", team: "platform" });
    const selector = at(onlyOfKind(manifests, "Deployment"), "spec", "selector", "matchLabels");
    expect(selector).toEqual(at(onlyOfKind(render(), "Deployment"), "spec", "selector", "matchLabels"));
  });

  test("add annotations to every object and keep the chart's own", () => {
    for (const { kind, metadata } of manifests)
      expect([kind, metadata.annotations?.["owner"]]).toEqual([kind, "platform"]);
    const pod = at(onlyOfKind(manifests, "Deployment"), "spec", "template", "metadata", "annotations");
    expect(pod).toMatchObject({ owner: "platform" });
    expect(at(pod, "checksum/config")).toMatch(/^[0-9a-f]{64}$/);
  });

  test("are overridden by labels and annotations of a single object", () => {
    const metadata = {
      podAnnotations: { note: "own" },
      podLabels: { team: "own" },
      serviceAnnotations: { note: "own" },
    };
    const common = { commonAnnotations: { note: "common" }, commonLabels: { team: "common" } };
    const manifestsWithBoth = render({ ...common, webhook: metadata });
    expect(onlyOfKind(manifestsWithBoth, "Service").metadata).toMatchObject({
      annotations: { note: "own" },
      labels: { team: "common" },
    });
    const template = at(onlyOfKind(manifestsWithBoth, "Deployment"), "spec", "template", "metadata");
    expect(template).toMatchObject({ annotations: { note: "own" }, labels: { team: "own" } });
  });

  test("add flags, variables, volumes and pull secrets to the chart's own", () => {
    expect(podSpecOf(values)).toMatchObject({
      imagePullSecrets: [{ name: "one" }, { name: "two" }],
      containers: [{ env: [{ name: "NODE_EXTRA_CA_CERTS", value: "/etc/ssl/team.crt" }] }],
    });
    expect(argsOf(values).slice(0, -1)).toEqual(argsOf({}));
    expect(argsOf(values).at(-1)).toBe("--host=::");
    const names = listOf<{ readonly name: string }>(podSpecOf(values), "volumes").map(({ name }) => name);
    expect(names).toEqual(["config", "extra"]);
  });

  test("replace the chart's spread constraints, even with an empty list", () => {
    expect(at(podSpecOf(values), "topologySpreadConstraints")).toEqual([]);
    const constraint = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" };
    const podSpec = podSpecOf({ webhook: { topologySpreadConstraints: [constraint] } });
    expect(at(podSpec, "topologySpreadConstraints")).toEqual([constraint]);
  });
});

test("images without a registry are rejected, unless allowEmptyRegistry is set", () => {
  const renderWithoutRegistry = (values: Values) => renderText(values, { allowsEmptyRegistry: false });
  expect(renderWithoutRegistry({}).stderr).toMatch(
    /image\.registry is "", .* pull lastcall-webhook:0\.1\.0 and lastcall-manager:0\.1\.0 from/,
  );
  const values = {
    image: { webhook: { repository: "team/webhook" }, manager: { repository: "r.example/manager" } },
  };
  expect(renderWithoutRegistry(values).stderr).toContain("would pull team/webhook:0.1.0 from");
  for (const registry of ["registry.example", "localhost", "registry:5000/team"]) {
    expect(renderWithoutRegistry({ image: { registry } }), registry).toMatchObject({ status: 0 });
  }
});

test("the server gets flags for the manager's pull policy and pull secrets only if they are set", () => {
  const flagsOf = (values: Values) => argsOf(values).filter((arg) => arg.startsWith("--image-pull"));
  expect(flagsOf({})).toEqual([]);
  expect(flagsOf({ image: { manager: { pullPolicy: "Never", pullSecrets: ["a", "b"] } } })).toEqual([
    "--image-pull-policy=Never",
    "--image-pull-secrets=a,b",
  ]);
});

test.for(["self", "cert-manager", "existing"])(
  "with certificates.mode %s, the server gets exactly one source of its certificate",
  (mode) => {
    const existingSecret = mode === "existing" ? { existing: { secretName: "corporate-tls" } } : {};
    const flags = argsOf({ certificates: { mode, ...existingSecret } }).map((arg) => arg.split("=")[0]);
    expect(flags.includes("--ca-secret")).toBe(mode === "self");
    expect(flags.includes("--cert") && flags.includes("--key")).toBe(mode !== "self");
    expect(flags.includes("--webhook-configuration")).toBe(mode !== "cert-manager");
  },
);

test("every log level of the server can be set", () => {
  for (const logLevel of LOG_LEVELS) expect(argsOf({ webhook: { logLevel } })).toContain(`--log-level=${logLevel}`);
});

test("cert-manager's certificate has the Service's name, and its CA is injected into the configuration", () => {
  const manifests: readonly Manifest[] = render({ certificates: { mode: "cert-manager" } }, { namespace: "drain" });
  const certificate = manifests.find(
    ({ kind, metadata }) => kind === "Certificate" && metadata.name === "lastcall-webhook-tls",
  );
  expect(at(certificate, "spec")).toMatchObject({
    secretName: "lastcall-webhook-tls",
    dnsNames: ["lastcall-webhook.drain.svc", "lastcall-webhook.drain.svc.cluster.local"],
    issuerRef: { name: "lastcall-ca", kind: "Issuer" },
  });
  const annotations = onlyOfKind(manifests, "MutatingWebhookConfiguration").metadata.annotations;
  expect(annotations?.["cert-manager.io/inject-ca-from"]).toBe("drain/lastcall-webhook-tls");
});

test("the Secrets that cert-manager creates have other names than the chart's", () => {
  const certManagerSecrets = render({ certificates: { mode: "cert-manager" } })
    .filter(({ kind }) => kind === "Certificate")
    .map((certificate) => at(certificate, "spec", "secretName"));
  expect(certManagerSecrets).toHaveLength(2);
  const chartSecrets = ofKind(render(), "Secret").map(({ metadata }) => metadata.name);
  expect(chartSecrets).toEqual(["lastcall-ca", "lastcall-relay"]);
  expect(chartSecrets.filter((name) => certManagerSecrets.includes(name))).toEqual([]);
});
