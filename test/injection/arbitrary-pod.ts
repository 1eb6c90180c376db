/** Random valid Pods in unusual spellings and with unknown fields. */
import fc from "fast-check";

/** Absent, or one of the spellings of an empty value, or the value. */
function maybe<T>(key: string, value: fc.Arbitrary<T>, ...empties: readonly unknown[]): fc.Arbitrary<object> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 5, arbitrary: value.map((v) => ({ [key]: v })) },
    ...empties.map((empty) => ({ weight: 1, arbitrary: fc.constant({ [key]: empty }) })),
  );
}

function merged(...parts: readonly fc.Arbitrary<object>[]): fc.Arbitrary<Record<string, unknown>> {
  return fc.tuple(...parts).map((pieces) => Object.assign({}, ...pieces) as Record<string, unknown>);
}

const port = fc.oneof(fc.constantFrom(80, 8080, 9090, 17_890, 17_891, 17_892), fc.integer({ min: 1, max: 65_535 }));
const portReference = fc.oneof(port, fc.constantFrom("http", "metrics", "nowhere"));
const unknownParts = fc.constantFrom({}, {}, { futureField: { deep: [1, { x: null }] } }, { restartPolicyRules: [] });

const probe = merged(
  fc.oneof(
    portReference.map((p) => ({ httpGet: { path: "/healthz", port: p } })),
    portReference.map((p) => ({ tcpSocket: { port: p } })),
    port.map((p) => ({ grpc: { port: p } })),
    fc.constant({ exec: { command: ["true"] } }),
  ),
  maybe("periodSeconds", fc.constantFrom(1, 10, 0, 2_000_000)),
  maybe("terminationGracePeriodSeconds", fc.constantFrom(1, 7, 30), null),
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

const lifecycle = merged(
  maybe("preStop", preStop, null),
  maybe("postStart", fc.constant({ exec: { command: ["x"] } })),
);

const amount = fc.constantFrom("100m", "1", "0.1", "64Mi", "1Gi", "0");
const resourceList = merged(maybe("cpu", amount), maybe("memory", amount), maybe("nvidia.com/gpu", fc.constant("1")));
const guaranteed = fc.constant({ requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "0.1", memory: "64Mi" } });
const anyResources = merged(maybe("requests", resourceList, null), maybe("limits", resourceList, null));

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

/** Often gives all containers the same resources, so that every QoS class occurs. */
const resourcesOfAll = fc.constantFrom("none", "guaranteed", "any");

function container(name: string, resources: string): fc.Arbitrary<Record<string, unknown>> {
  const asks = resources === "guaranteed" ? guaranteed : resources === "any" ? anyResources : fc.constant({});
  return merged(
    fc.constant({ name }),
    fc.constantFrom("registry/app:1", "docker.io/envoyproxy/envoy:v1.31", "nginx").map((image) => ({ image })),
    unknownParts,
    resources === "none" ? fc.constant({}) : asks.map((r) => ({ resources: r })),
    maybe("lifecycle", lifecycle, null, {}),
    maybe("livenessProbe", probe, null),
    maybe("readinessProbe", probe),
    maybe("startupProbe", probe),
    maybe("env", env, null, []),
    maybe("envFrom", fc.constantFrom([], [{ secretRef: { name: "settings" } }])),
    maybe("volumeMounts", volumeMounts, null, []),
    maybe(
      "ports",
      fc.array(
        merged(
          port.map((p) => ({ containerPort: p })),
          maybe("name", fc.constantFrom("http", "metrics")),
          maybe("protocol", fc.constantFrom("TCP", "UDP")),
        ),
        { maxLength: 3 },
      ),
      null,
      [],
    ),
    maybe("env", fc.constant([{ name: "A", value: "b" }]), null, []),
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
            container(name, resources).map((made) => (name === "logs" ? { ...made, restartPolicy: "Always" } : made)),
          ),
        ),
      ),
  );

const annotations = merged(
  maybe("lastcall.dev/status", fc.constantFrom("forged", '{"version":"9","mode":"sleep"}', "x".repeat(6_000))),
  maybe("lastcall.dev/inject", fc.constantFrom("enabled", "enabled", "maybe")),
  maybe("lastcall.dev/mode", fc.constantFrom("auto", "sidecar", "native", "classic", "sleep", "hook")),
  maybe("lastcall.dev/prestop", fc.constantFrom("auto", "keep", "chain", "replace")),
  maybe("lastcall.dev/drain-delay", fc.constantFrom("0s", "1500ms", "30s", "999999h")),
  maybe("lastcall.dev/drain-timeout", fc.constantFrom("0s", "100ms", "45s", "20m", "999999m", "30")),
  maybe("lastcall.dev/deregistration-delay", fc.constantFrom("0s", "1ms", "300s")),
  maybe("lastcall.dev/containers", fc.constantFrom("app", "worker,absent", "absent")),
  maybe("lastcall.dev/port", fc.constantFrom("17890", "8080", "17989", "80")),
  maybe("lastcall.dev/driver-url", fc.constantFrom("http://127.0.0.1:9901", "unix:/run/envoy/admin.sock")),
  maybe("lastcall.dev/preload", fc.constantFrom("http1", "disabled", "http2")),
  maybe("lastcall.dev/drain-tiemout", fc.constant("1s")),
  maybe("kubectl.kubernetes.io/default-container", fc.constantFrom("app", "", null)),
  maybe("traffic.sidecar.istio.io/excludeInboundPorts", fc.constantFrom("", "8080", "8080, 9090", "17890")),
  maybe("config.linkerd.io/skip-inbound-ports", fc.constantFrom("4000-20000", "25")),
  maybe("linkerd.io/inject", fc.constantFrom("enabled", "disabled")),
  maybe("sidecar.istio.io/inject", fc.constant("true")),
  maybe("unicode/ключ~1", fc.constant("значение")),
);

const metadata = merged(
  fc.constantFrom({}, { name: "web-0" }, { generateName: "web-7f-" }),
  maybe("annotations", annotations, null, {}),
  maybe("labels", fc.constant({ app: "web", "sidecar.istio.io/inject": "true" }), null, {}),
);

const podLevel = fc.constantFrom(
  { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } },
  { requests: { memory: "64Mi" } },
  { limits: { memory: "8Mi" } },
);

export const arbitraryPod: fc.Arbitrary<object> = fc
  .record({ names: regularNames, resources: resourcesOfAll })
  .chain(({ names, resources }) =>
    merged(
      fc.constant({ apiVersion: "v1", kind: "Pod" }),
      maybe("metadata", metadata, null, {}),
      unknownParts,
      merged(
        fc.tuple(...names.map((name) => container(name, resources))).map((containers) => ({ containers })),
        maybe("initContainers", initContainers, null, []),
        maybe("volumes", volumes, null, []),
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
          { weight: 1, arbitrary: podLevel.map((r) => ({ resources: r })) },
        ),
        fc.constantFrom({}, {}, { restartPolicy: "Always" }, { restartPolicy: "Never" }),
        fc.constantFrom({}, { schedulingGates: [{ name: "x" }], nodeName: "n1", hostPID: true }),
        unknownParts,
      ).map((spec) => ({ spec })),
    ),
  );
