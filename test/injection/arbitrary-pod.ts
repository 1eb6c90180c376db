/** Generates random valid Pods with unusual spellings and unknown fields. */
import fc from "fast-check";

/** Generates an object without the key, with the value, or with one of the empty values. */
function optionalField<T>(
  key: string,
  value: fc.Arbitrary<T>,
  ...emptyValues: readonly unknown[]
): fc.Arbitrary<object> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 5, arbitrary: value.map((v) => ({ [key]: v })) },
    ...emptyValues.map((empty) => ({ weight: 1, arbitrary: fc.constant({ [key]: empty }) })),
  );
}

function mergeObjects(...parts: readonly fc.Arbitrary<object>[]): fc.Arbitrary<Record<string, unknown>> {
  return fc.tuple(...parts).map((objects) => Object.assign({}, ...objects) as Record<string, unknown>);
}

const port = fc.oneof(fc.constantFrom(80, 8080, 9090, 17_890, 17_891, 17_892), fc.integer({ min: 1, max: 65_535 }));
const portReference = fc.oneof(port, fc.constantFrom("http", "metrics", "nowhere"));
const unknownFields = fc.constantFrom({}, {}, { futureField: { deep: [1, { x: null }] } }, { restartPolicyRules: [] });

const probe = mergeObjects(
  fc.oneof(
    portReference.map((p) => ({ httpGet: { path: "/healthz", port: p } })),
    portReference.map((p) => ({ tcpSocket: { port: p } })),
    port.map((p) => ({ grpc: { port: p } })),
    fc.constant({ exec: { command: ["true"] } }),
  ),
  optionalField("periodSeconds", fc.constantFrom(1, 10, 0, 2_000_000)),
  optionalField("terminationGracePeriodSeconds", fc.constantFrom(1, 7, 30), null),
);

const preStop = fc.oneof(
  fc.constantFrom<object>(
    { sleep: { seconds: 0 } },
    { sleep: { seconds: 5 } },
    { sleep: { seconds: 20 } },
    { exec: { command: ["sleep", "15"] } },
    { exec: { command: ["/bin/sh", "-c", "sleep 12.5"] } },
    { exec: { command: ["sh", "-c", "sleep 5; nginx -s quit"] } },
    { exec: { command: ["/app/stop"] } },
    { tcpSocket: { port: 8080 } },
    { exec: { command: ["/app/stop", "x".repeat(5_000)] } },
    { httpGet: { port: 8080, host: "example.org" } },
    {},
  ),
  portReference.map((p) => ({ httpGet: { path: "/bye", port: p, scheme: "HTTP" } })),
);

const lifecycle = mergeObjects(
  optionalField("preStop", preStop, null),
  optionalField("postStart", fc.constant({ exec: { command: ["x"] } })),
);

const amount = fc.constantFrom("100m", "1", "0.1", "64Mi", "1Gi", "0");
const resourceList = mergeObjects(
  optionalField("cpu", amount),
  optionalField("memory", amount),
  optionalField("nvidia.com/gpu", fc.constant("1")),
);
const guaranteedResources = fc.constant({
  requests: { cpu: "100m", memory: "64Mi" },
  limits: { cpu: "0.1", memory: "64Mi" },
});
const anyResources = mergeObjects(
  optionalField("requests", resourceList, null),
  optionalField("limits", resourceList, null),
);

const preloadVariable = fc.constantFrom(
  { value: "/usr/lib/libjemalloc.so.2" },
  { value: "" },
  {},
  { value: "/lastcall-preload/lastcall-preload.so" },
  { valueFrom: { configMapKeyRef: { name: "settings", key: "preload" } } },
);
const env = fc.array(
  fc.oneof(
    fc.constantFrom("HOME", "PATH").map((name) => ({ name, value: "/x" })),
    preloadVariable.map((rest) => ({ name: "LD_PRELOAD", ...rest })),
  ),
  { maxLength: 3 },
);
const volumeMounts = fc.subarray([
  { name: "data", mountPath: "/data" },
  { name: "lastcall-preload", mountPath: "/lastcall-preload", readOnly: true },
]);
const volumes = fc.subarray([
  { name: "data", emptyDir: {} },
  { name: "lastcall-preload", image: { reference: "registry/other:1", pullPolicy: "Always" } },
]);

/** Kind of resources that all regular containers of a Pod share; with different kinds few Pods would be Guaranteed. */
const resourcesKind = fc.constantFrom("none", "guaranteed", "any");

function containerWith(name: string, resources: string): fc.Arbitrary<Record<string, unknown>> {
  const containerResources =
    resources === "guaranteed" ? guaranteedResources : resources === "any" ? anyResources : fc.constant({});
  return mergeObjects(
    fc.constant({ name }),
    fc.constantFrom("registry/app:1", "docker.io/envoyproxy/envoy:v1.31", "nginx").map((image) => ({ image })),
    unknownFields,
    resources === "none" ? fc.constant({}) : containerResources.map((r) => ({ resources: r })),
    optionalField("lifecycle", lifecycle, null, {}),
    optionalField("livenessProbe", probe, null),
    optionalField("readinessProbe", probe),
    optionalField("startupProbe", probe),
    optionalField("env", env, null, []),
    optionalField("envFrom", fc.constantFrom([], [{ secretRef: { name: "settings" } }])),
    optionalField("volumeMounts", volumeMounts, null, []),
    optionalField(
      "ports",
      fc.array(
        mergeObjects(
          port.map((p) => ({ containerPort: p })),
          optionalField("name", fc.constantFrom("http", "metrics")),
          optionalField("protocol", fc.constantFrom("TCP", "UDP")),
        ),
        { maxLength: 3 },
      ),
      null,
      [],
    ),
    optionalField("env", fc.constant([{ name: "A", value: "b" }]), null, []),
  );
}

const regularNames = fc.constantFrom(
  ["app"],
  ["app", "worker"],
  ["app", "istio-proxy"],
  ["istio-proxy"],
  ["app", "linkerd-proxy"],
  ["a", "b", "c", "constructor"],
);

const initContainers = fc
  .constantFrom("none", "guaranteed", "any")
  .chain((resources) =>
    fc
      .subarray(["istio-init", "migrate", "logs"])
      .chain((names) =>
        fc.tuple(
          ...names.map((name) =>
            containerWith(name, resources).map((generated) =>
              name === "logs" ? { ...generated, restartPolicy: "Always" } : generated,
            ),
          ),
        ),
      ),
  );

const annotations = mergeObjects(
  optionalField("lastcall.dev/status", fc.constantFrom("forged", '{"version":"9","mode":"sleep"}', "x".repeat(6_000))),
  optionalField("lastcall.dev/inject", fc.constantFrom("enabled", "enabled", "maybe")),
  optionalField("lastcall.dev/mode", fc.constantFrom("auto", "sidecar", "native", "classic", "sleep", "hook")),
  optionalField("lastcall.dev/prestop", fc.constantFrom("auto", "keep", "chain", "replace")),
  optionalField("lastcall.dev/drain-delay", fc.constantFrom("0s", "1500ms", "30s", "999999h")),
  optionalField("lastcall.dev/drain-timeout", fc.constantFrom("0s", "100ms", "45s", "20m", "999999m", "30")),
  optionalField("lastcall.dev/deregistration-delay", fc.constantFrom("0s", "1ms", "300s")),
  optionalField("lastcall.dev/containers", fc.constantFrom("app", "worker,absent", "absent")),
  optionalField("lastcall.dev/port", fc.constantFrom("17890", "8080", "17989", "80")),
  optionalField("lastcall.dev/driver-url", fc.constantFrom("http://127.0.0.1:9901", "unix:/run/envoy/admin.sock")),
  optionalField("lastcall.dev/preload", fc.constantFrom("http1", "disabled", "http2")),
  optionalField("lastcall.dev/drain-tiemout", fc.constant("1s")),
  optionalField("kubectl.kubernetes.io/default-container", fc.constantFrom("app", "", null)),
  optionalField("traffic.sidecar.istio.io/excludeInboundPorts", fc.constantFrom("", "8080", "8080, 9090", "17890")),
  optionalField("config.linkerd.io/skip-inbound-ports", fc.constantFrom("4000-20000", "25")),
  optionalField("linkerd.io/inject", fc.constantFrom("enabled", "disabled")),
  optionalField("sidecar.istio.io/inject", fc.constant("true")),
  optionalField("unicode/ключ~1", fc.constant("значение")),
);

const metadata = mergeObjects(
  fc.constantFrom({}, { name: "web-0" }, { generateName: "web-7f-" }),
  optionalField("annotations", annotations, null, {}),
  optionalField("labels", fc.constant({ app: "web", "sidecar.istio.io/inject": "true" }), null, {}),
);

const podLevelFields = fc.constantFrom(
  { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } },
  { requests: { memory: "64Mi" } },
  { limits: { memory: "8Mi" } },
);

export const arbitraryPod: fc.Arbitrary<object> = fc
  .record({ names: regularNames, resources: resourcesKind })
  .chain(({ names, resources }) =>
    mergeObjects(
      fc.constant({ apiVersion: "v1", kind: "Pod" }),
      optionalField("metadata", metadata, null, {}),
      unknownFields,
      mergeObjects(
        fc.tuple(...names.map((name) => containerWith(name, resources))).map((containers) => ({ containers })),
        optionalField("initContainers", initContainers, null, []),
        optionalField("volumes", volumes, null, []),
        fc.oneof(
          { weight: 3, arbitrary: fc.constant({}) },
          {
            weight: 4,
            arbitrary: fc
              .constantFrom(1, 30, 45, 600, 604_800, 1_234_567, 2_147_483_647, 2_147_483_000, null)
              .map((grace) => ({ terminationGracePeriodSeconds: grace })),
          },
        ),
        fc.oneof(
          { weight: 8, arbitrary: fc.constant({}) },
          { weight: 1, arbitrary: podLevelFields.map((r) => ({ resources: r })) },
        ),
        fc.constantFrom({}, {}, { restartPolicy: "Always" }, { restartPolicy: "Never" }),
        fc.constantFrom({}, { schedulingGates: [{ name: "x" }], nodeName: "n1", hostPID: true }),
        unknownFields,
      ).map((spec) => ({ spec })),
    ),
  );
