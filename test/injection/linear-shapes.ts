/** Pods in which the number of one element is large. */
import type { InjectorInputs } from "./injector-inputs.ts";

export type Shape = {
  readonly title: string;
  readonly pod: (size: number) => object;
  readonly inputs?: InjectorInputs;
  /** Whether a manifest may contain thousands of these elements. */
  readonly isFeasibleInManifest?: boolean;
};
type JsonObject = { readonly [key: string]: unknown };

function many<T>(size: number, part: (at: number) => T): T[] {
  return Array.from({ length: size }, (_, at) => part(at));
}

function podOf(containers: readonly JsonObject[], spec: JsonObject = {}, annotations: JsonObject = {}): object {
  return { metadata: { name: "web-0", annotations }, spec: { ...spec, containers } };
}

function containers(size: number, part: (at: number) => JsonObject = () => ({})): JsonObject[] {
  return many(size, (at) => ({ name: `c${at}`, image: "app:1", ...part(at) }));
}

const APP = { name: "app", image: "app:1" };
const UNIX_SOCKET_ANNOTATIONS = {
  "lastcall.dev/driver": "envoy",
  "lastcall.dev/driver-url": "unix:/run/envoy/admin.sock",
};
const probe = { httpGet: { port: "http", path: "/" }, periodSeconds: 3 };
const httpHook = { preStop: { httpGet: { port: 80, path: "/bye" } } };
const TOKEN = "0123456789abcdef0123456789abcdef";

function existingManager(record: object, hooks: string, overrides: JsonObject = {}): JsonObject {
  const env = [
    { name: "LASTCALL_TOKEN", value: TOKEN },
    { name: "LASTCALL_ORIGINAL", value: JSON.stringify(record) },
  ];
  const args = ["serve", "--port=17890", `--hooks=${hooks}`];
  return { name: "lastcall", image: "x", restartPolicy: "Always", args, env, ...overrides };
}

export const SHAPES: readonly Shape[] = [
  { title: "containers", isFeasibleInManifest: true, pod: (size) => podOf(containers(size)) },
  { title: "containers in sleep mode", pod: (size) => podOf(containers(size), {}, { "lastcall.dev/mode": "sleep" }) },
  {
    title: "containers in classic mode",
    pod: (size) => podOf(containers(size), { terminationGracePeriodSeconds: 30 }, { "lastcall.dev/mode": "classic" }),
  },
  {
    title: "containers that keep their hooks",
    pod: (size) => podOf([APP, ...containers(size, () => ({ lifecycle: { preStop: { exec: { command: ["x"] } } } }))]),
  },
  {
    title: "containers with chained hooks",
    pod: (size) =>
      podOf(
        containers(size, () => ({ lifecycle: httpHook })),
        {},
        { "lastcall.dev/prestop": "chain" },
      ),
  },
  { title: "containers with an empty lifecycle", pod: (size) => podOf(containers(size, () => ({ lifecycle: {} }))) },
  {
    title: "init containers and sidecars",
    pod: (size) =>
      podOf([APP], {
        initContainers: many(size, (at) => ({
          name: `i${at}`,
          image: "x",
          restartPolicy: at % 2 ? "Always" : undefined,
        })),
      }),
  },
  {
    title: "probes",
    isFeasibleInManifest: true,
    pod: (size) => {
      const probes = { livenessProbe: probe, readinessProbe: probe, startupProbe: probe };
      return podOf(containers(size, () => ({ ...probes, ports: [{ name: "http", containerPort: 80 }] })));
    },
  },
  {
    title: "ports of one container",
    pod: (size) => {
      const ports = many(size, (at) => ({ name: `p${at}`, containerPort: (at % 60_000) + 1_024 }));
      return podOf([{ ...APP, livenessProbe: probe, ports: [...ports, { name: "http", containerPort: 80 }] }]);
    },
  },
  {
    title: "resources under LimitRanges",
    pod: (size) => podOf(containers(size, () => ({ resources: { requests: { cpu: "1m" }, limits: { cpu: "1" } } }))),
    inputs: {
      facts: {
        limitRanges: [
          {
            name: "l",
            items: [
              {
                type: "Pod",
                min: {},
                max: { cpu: "99999" },
                default: {},
                defaultRequest: {},
                maxLimitRequestRatio: {},
              },
            ],
          },
        ],
      },
    },
  },
  {
    title: "unknown annotations of lastcall",
    isFeasibleInManifest: true,
    pod: (size) => podOf([APP], {}, Object.fromEntries(many(size, (at) => [`lastcall.dev/key-${at}`, "x"]))),
  },
  {
    title: "annotations of other programs",
    pod: (size) => podOf([APP], {}, Object.fromEntries(many(size, (at) => [`example.org/key-${at}`, "x"]))),
  },
  {
    title: "names of existing containers in a setting",
    isFeasibleInManifest: true,
    pod: (size) => podOf(containers(size), {}, { "lastcall.dev/containers": many(size, (at) => `c${at}`).join() }),
  },
  {
    title: "names of missing containers in a setting",
    isFeasibleInManifest: true,
    pod: (size) => podOf(containers(size), {}, { "lastcall.dev/containers": many(size, (at) => `n${at}`).join() }),
  },
  {
    title: "ports in the lists of a setting",
    pod: (size) => {
      const list = many(size, (at) => at + 1).join();
      return podOf([APP], {}, { "lastcall.dev/drain-ports": list, "lastcall.dev/ignore-ports": list });
    },
  },
  {
    title: "ports excluded from a mesh",
    isFeasibleInManifest: true,
    pod: (size) => {
      const list = many(size, (at) => at + 1).join();
      const meshLabels = { "sidecar.istio.io/inject": "true", "linkerd.io/inject": "enabled" };
      return podOf([APP], {}, { ...meshLabels, "config.linkerd.io/skip-inbound-ports": list });
    },
  },
  {
    title: "mounts and volumes beside a driver's socket",
    pod: (size) => {
      const volumes = many(size, (at) => ({ name: `v${at}`, emptyDir: {} }));
      const volumeMounts = many(size, (at) => ({ name: `v${at}`, mountPath: "/run/envoy" }));
      return podOf([{ ...APP, volumeMounts }], { volumes }, UNIX_SOCKET_ANNOTATIONS);
    },
  },
  {
    title: "containers that may own a driver's socket",
    pod: (size) => {
      const volumes = many(size, (at) => ({ name: `v${at}`, emptyDir: {} }));
      return podOf(
        containers(size, (at) => ({ volumeMounts: [{ name: `v${at}`, mountPath: "/run" }] })),
        { volumes },
        UNIX_SOCKET_ANNOTATIONS,
      );
    },
  },
  {
    title: "terms of a node affinity",
    pod: (size) => {
      const matchExpressions = [{ key: "kubernetes.io/os", operator: "In", values: ["windows"] }];
      const terms = [...many(size, () => ({ matchExpressions })), {}];
      const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
      return podOf([APP], { affinity: { nodeAffinity } });
    },
  },
  {
    title: "changes in the record of an existing manager",
    pod: (size) => {
      const names = many(size, (at) => `c${at}`);
      const record = {
        grace: 45,
        probes: names.flatMap((name) => [`${name}/liveness`, `${name}/startup`]),
        preStop: Object.fromEntries(names.map((name) => [name, null])),
        annotations: Object.fromEntries(names.map((name) => [name, "x"])),
        empty: Object.fromEntries(names.map((name) => [`lifecycle/${name}`, null])),
      };
      const manager = existingManager(record, names.map((name) => `${name}:app`).join());
      const held = containers(size, (at) => ({
        lifecycle: { preStop: { httpGet: { path: `/${TOKEN}/prestop/c${at}`, port: 17_890 } } },
        livenessProbe: { ...probe, terminationGracePeriodSeconds: 45 },
      }));
      return podOf(held, { initContainers: [manager] });
    },
  },
  {
    title: "variables and mounts of an existing manager",
    pod: (size) => {
      const more = {
        env: many(size, (at) => ({ name: `V${at}`, value: "x" })),
        volumeMounts: many(size, (at) => ({ name: "v", mountPath: `/m${at}` })),
      };
      return podOf([APP], { initContainers: [existingManager({}, "app:app", more)] });
    },
  },
  {
    title: "unknown flags of an existing manager",
    pod: (size) => {
      const args = ["serve", "--port=17890", ...many(size, (at) => `--flag-${at}`)];
      return podOf([APP], { initContainers: [existingManager({}, "app:app", { args })] });
    },
  },
  {
    title: "hooks that Istio rewrote",
    pod: (size) => {
      const names = many(size, (at) => `c${at}`);
      const probers = names.map((name) => [
        `/app-lifecycle/${name}/prestopz`,
        { httpGet: { port: 17_890, path: `/${TOKEN}/prestop/${name}` } },
      ]);
      const env = [{ name: "ISTIO_KUBE_APP_PROBERS", value: JSON.stringify(Object.fromEntries(probers)) }];
      const rewritten = containers(size, (at) => ({
        lifecycle: { preStop: { httpGet: { path: `/app-lifecycle/c${at}/prestopz`, port: 15_020 } } },
      }));
      const manager = existingManager({}, names.map((name) => `${name}:app`).join());
      return podOf([...rewritten, { name: "istio-proxy", image: "x", env }], { initContainers: [manager] });
    },
  },
];
