/** Pods that are large in one way each. */
import type { Given } from "./injector-inputs.ts";

export type Shape = {
  readonly of: string;
  readonly pod: (size: number) => object;
  readonly given?: Given;
  /** A manifest can easily hold thousands of these. */
  readonly isWritten?: boolean;
};
type Part = { readonly [key: string]: unknown };

function many<T>(size: number, part: (at: number) => T): T[] {
  return Array.from({ length: size }, (_, at) => part(at));
}

function podOf(containers: readonly Part[], spec: Part = {}, annotations: Part = {}): object {
  return { metadata: { name: "web-0", annotations }, spec: { ...spec, containers } };
}

function containers(size: number, part: (at: number) => Part = () => ({})): Part[] {
  return many(size, (at) => ({ name: `c${at}`, image: "app:1", ...part(at) }));
}

const APP = { name: "app", image: "app:1" };
const UNIX = { "lastcall.dev/driver": "envoy", "lastcall.dev/driver-url": "unix:/run/envoy/admin.sock" };
const probe = { httpGet: { port: "http", path: "/" }, periodSeconds: 3 };
const get = { preStop: { httpGet: { port: 80, path: "/bye" } } };
const TOKEN = "0123456789abcdef0123456789abcdef";

function existingManager(record: object, hooks: string, more: Part = {}): Part {
  const env = [
    { name: "LASTCALL_TOKEN", value: TOKEN },
    { name: "LASTCALL_ORIGINAL", value: JSON.stringify(record) },
  ];
  const args = ["serve", "--port=17890", `--hooks=${hooks}`];
  return { name: "lastcall", image: "x", restartPolicy: "Always", args, env, ...more };
}

export const SHAPES: readonly Shape[] = [
  { of: "containers", isWritten: true, pod: (size) => podOf(containers(size)) },
  { of: "containers in sleep mode", pod: (size) => podOf(containers(size), {}, { "lastcall.dev/mode": "sleep" }) },
  {
    of: "containers in classic mode",
    pod: (size) => podOf(containers(size), { terminationGracePeriodSeconds: 30 }, { "lastcall.dev/mode": "classic" }),
  },
  {
    of: "containers with hooks that stay",
    pod: (size) => podOf([APP, ...containers(size, () => ({ lifecycle: { preStop: { exec: { command: ["x"] } } } }))]),
  },
  {
    of: "containers with hooks that are performed for them",
    pod: (size) =>
      podOf(
        containers(size, () => ({ lifecycle: get })),
        {},
        { "lastcall.dev/prestop": "chain" },
      ),
  },
  { of: "containers with an empty lifecycle", pod: (size) => podOf(containers(size, () => ({ lifecycle: {} }))) },
  {
    of: "init containers and sidecars",
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
    of: "probes",
    isWritten: true,
    pod: (size) => {
      const probes = { livenessProbe: probe, readinessProbe: probe, startupProbe: probe };
      return podOf(containers(size, () => ({ ...probes, ports: [{ name: "http", containerPort: 80 }] })));
    },
  },
  {
    of: "ports of one container",
    pod: (size) => {
      const ports = many(size, (at) => ({ name: `p${at}`, containerPort: (at % 60_000) + 1_024 }));
      return podOf([{ ...APP, livenessProbe: probe, ports: [...ports, { name: "http", containerPort: 80 }] }]);
    },
  },
  {
    of: "resources under LimitRanges",
    pod: (size) => podOf(containers(size, () => ({ resources: { requests: { cpu: "1m" }, limits: { cpu: "1" } } }))),
    given: {
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
    of: "annotations that do not exist",
    isWritten: true,
    pod: (size) => podOf([APP], {}, Object.fromEntries(many(size, (at) => [`lastcall.dev/key-${at}`, "x"]))),
  },
  {
    of: "annotations of others",
    pod: (size) => podOf([APP], {}, Object.fromEntries(many(size, (at) => [`example.org/key-${at}`, "x"]))),
  },
  {
    of: "names of containers that are there",
    isWritten: true,
    pod: (size) => podOf(containers(size), {}, { "lastcall.dev/containers": many(size, (at) => `c${at}`).join() }),
  },
  {
    of: "names of containers that are not there",
    isWritten: true,
    pod: (size) => podOf(containers(size), {}, { "lastcall.dev/containers": many(size, (at) => `n${at}`).join() }),
  },
  {
    of: "ports in lists",
    pod: (size) => {
      const list = many(size, (at) => at + 1).join();
      return podOf([APP], {}, { "lastcall.dev/drain-ports": list, "lastcall.dev/ignore-ports": list });
    },
  },
  {
    of: "ports kept out of a mesh",
    isWritten: true,
    pod: (size) => {
      const list = many(size, (at) => at + 1).join();
      const asks = { "sidecar.istio.io/inject": "true", "linkerd.io/inject": "enabled" };
      return podOf([APP], {}, { ...asks, "config.linkerd.io/skip-inbound-ports": list });
    },
  },
  {
    of: "mounts and volumes beside a driver's socket",
    pod: (size) => {
      const volumes = many(size, (at) => ({ name: `v${at}`, emptyDir: {} }));
      const volumeMounts = many(size, (at) => ({ name: `v${at}`, mountPath: "/run/envoy" }));
      return podOf([{ ...APP, volumeMounts }], { volumes }, UNIX);
    },
  },
  {
    of: "containers that may own a driver's socket",
    pod: (size) => {
      const volumes = many(size, (at) => ({ name: `v${at}`, emptyDir: {} }));
      return podOf(
        containers(size, (at) => ({ volumeMounts: [{ name: `v${at}`, mountPath: "/run" }] })),
        { volumes },
        UNIX,
      );
    },
  },
  {
    of: "terms about nodes",
    pod: (size) => {
      const matchExpressions = [{ key: "kubernetes.io/os", operator: "In", values: ["windows"] }];
      const terms = [...many(size, () => ({ matchExpressions })), {}];
      const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
      return podOf([APP], { affinity: { nodeAffinity } });
    },
  },
  {
    of: "changes in a manager's record",
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
    of: "variables, mounts and arguments of a manager",
    pod: (size) => {
      const more = {
        env: many(size, (at) => ({ name: `V${at}`, value: "x" })),
        volumeMounts: many(size, (at) => ({ name: "v", mountPath: `/m${at}` })),
      };
      return podOf([APP], { initContainers: [existingManager({}, "app:app", more)] });
    },
  },
  {
    of: "unknown flags of a manager",
    pod: (size) => {
      const args = ["serve", "--port=17890", ...many(size, (at) => `--flag-${at}`)];
      return podOf([APP], { initContainers: [existingManager({}, "app:app", { args })] });
    },
  },
  {
    of: "hooks that Istio's agent took over",
    pod: (size) => {
      const names = many(size, (at) => `c${at}`);
      const probers = names.map((name) => [
        `/app-lifecycle/${name}/prestopz`,
        { httpGet: { port: 17_890, path: `/${TOKEN}/prestop/${name}` } },
      ]);
      const env = [{ name: "ISTIO_KUBE_APP_PROBERS", value: JSON.stringify(Object.fromEntries(probers)) }];
      const taken = containers(size, (at) => ({
        lifecycle: { preStop: { httpGet: { path: `/app-lifecycle/c${at}/prestopz`, port: 15_020 } } },
      }));
      const manager = existingManager({}, names.map((name) => `${name}:app`).join());
      return podOf([...taken, { name: "istio-proxy", image: "x", env }], { initContainers: [manager] });
    },
  },
];
