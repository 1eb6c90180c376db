/** Lists kinds of Pods in which the number of one element is large. */
import type { InjectorInputs } from "./injector-inputs.ts";

export type Shape = {
  readonly title: string;
  readonly createPod: (size: number) => object;
  readonly inputs?: InjectorInputs;
  /** Whether a manifest may contain thousands of these elements. */
  readonly isFeasibleInManifest?: boolean;
};
type JsonObject = { readonly [key: string]: unknown };

function createMany<T>(size: number, createPart: (at: number) => T): T[] {
  return Array.from({ length: size }, (_, at) => createPart(at));
}

function createPod(containers: readonly JsonObject[], spec: JsonObject = {}, annotations: JsonObject = {}): object {
  return { metadata: { name: "web-0", annotations }, spec: { ...spec, containers } };
}

function createContainers(size: number, fieldsOf: (at: number) => JsonObject = () => ({})): JsonObject[] {
  return createMany(size, (at) => ({ name: `c${at}`, image: "app:1", ...fieldsOf(at) }));
}

const APP = { name: "app", image: "app:1" };
const UNIX_SOCKET_ANNOTATIONS = {
  "lastcall.dev/driver": "envoy",
  "lastcall.dev/driver-url": "unix:/run/envoy/admin.sock",
};
const probe = { httpGet: { port: "http", path: "/" }, periodSeconds: 3 };
const httpHook = { preStop: { httpGet: { port: 80, path: "/bye" } } };
const TOKEN = "0123456789abcdef0123456789abcdef";

function createManager(record: object, hooks: string, overrides: JsonObject = {}): JsonObject {
  const env = [
    { name: "LASTCALL_TOKEN", value: TOKEN },
    { name: "LASTCALL_ORIGINAL", value: JSON.stringify(record) },
  ];
  const args = ["serve", "--port=17890", `--hooks=${hooks}`];
  return { name: "lastcall", image: "x", restartPolicy: "Always", args, env, ...overrides };
}

export const SHAPES: readonly Shape[] = [
  { title: "containers", isFeasibleInManifest: true, createPod: (size) => createPod(createContainers(size)) },
  {
    title: "containers in sleep mode",
    createPod: (size) => createPod(createContainers(size), {}, { "lastcall.dev/mode": "sleep" }),
  },
  {
    title: "containers in classic mode",
    createPod: (size) =>
      createPod(createContainers(size), { terminationGracePeriodSeconds: 30 }, { "lastcall.dev/mode": "classic" }),
  },
  {
    title: "containers that keep their hooks",
    createPod: (size) =>
      createPod([APP, ...createContainers(size, () => ({ lifecycle: { preStop: { exec: { command: ["x"] } } } }))]),
  },
  {
    title: "containers with chained hooks",
    createPod: (size) =>
      createPod(
        createContainers(size, () => ({ lifecycle: httpHook })),
        {},
        { "lastcall.dev/prestop": "chain" },
      ),
  },
  {
    title: "containers with an empty lifecycle",
    createPod: (size) => createPod(createContainers(size, () => ({ lifecycle: {} }))),
  },
  {
    title: "init containers and sidecars",
    createPod: (size) =>
      createPod([APP], {
        initContainers: createMany(size, (at) => ({
          name: `i${at}`,
          image: "x",
          restartPolicy: at % 2 ? "Always" : undefined,
        })),
      }),
  },
  {
    title: "probes",
    isFeasibleInManifest: true,
    createPod: (size) => {
      const probes = { livenessProbe: probe, readinessProbe: probe, startupProbe: probe };
      return createPod(createContainers(size, () => ({ ...probes, ports: [{ name: "http", containerPort: 80 }] })));
    },
  },
  {
    title: "ports of one container",
    createPod: (size) => {
      const ports = createMany(size, (at) => ({ name: `p${at}`, containerPort: (at % 60_000) + 1_024 }));
      return createPod([{ ...APP, livenessProbe: probe, ports: [...ports, { name: "http", containerPort: 80 }] }]);
    },
  },
  {
    title: "resources under LimitRanges",
    createPod: (size) =>
      createPod(createContainers(size, () => ({ resources: { requests: { cpu: "1m" }, limits: { cpu: "1" } } }))),
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
    createPod: (size) =>
      createPod([APP], {}, Object.fromEntries(createMany(size, (at) => [`lastcall.dev/key-${at}`, "x"]))),
  },
  {
    title: "annotations of other programs",
    createPod: (size) =>
      createPod([APP], {}, Object.fromEntries(createMany(size, (at) => [`example.org/key-${at}`, "x"]))),
  },
  {
    title: "names of existing containers in a setting",
    isFeasibleInManifest: true,
    createPod: (size) =>
      createPod(createContainers(size), {}, { "lastcall.dev/containers": createMany(size, (at) => `c${at}`).join() }),
  },
  {
    title: "names of missing containers in a setting",
    isFeasibleInManifest: true,
    createPod: (size) =>
      createPod(createContainers(size), {}, { "lastcall.dev/containers": createMany(size, (at) => `n${at}`).join() }),
  },
  {
    title: "ports in the lists of a setting",
    createPod: (size) => {
      const list = createMany(size, (at) => at + 1).join();
      return createPod([APP], {}, { "lastcall.dev/drain-ports": list, "lastcall.dev/ignore-ports": list });
    },
  },
  {
    title: "ports excluded from a mesh",
    isFeasibleInManifest: true,
    createPod: (size) => {
      const list = createMany(size, (at) => at + 1).join();
      const meshLabels = { "sidecar.istio.io/inject": "true", "linkerd.io/inject": "enabled" };
      return createPod([APP], {}, { ...meshLabels, "config.linkerd.io/skip-inbound-ports": list });
    },
  },
  {
    title: "mounts and volumes beside a driver's socket",
    createPod: (size) => {
      const volumes = createMany(size, (at) => ({ name: `v${at}`, emptyDir: {} }));
      const volumeMounts = createMany(size, (at) => ({ name: `v${at}`, mountPath: "/run/envoy" }));
      return createPod([{ ...APP, volumeMounts }], { volumes }, UNIX_SOCKET_ANNOTATIONS);
    },
  },
  {
    title: "containers that may own a driver's socket",
    createPod: (size) => {
      const volumes = createMany(size, (at) => ({ name: `v${at}`, emptyDir: {} }));
      return createPod(
        createContainers(size, (at) => ({ volumeMounts: [{ name: `v${at}`, mountPath: "/run" }] })),
        { volumes },
        UNIX_SOCKET_ANNOTATIONS,
      );
    },
  },
  {
    title: "terms of a node affinity",
    createPod: (size) => {
      const matchExpressions = [{ key: "kubernetes.io/os", operator: "In", values: ["windows"] }];
      const terms = [...createMany(size, () => ({ matchExpressions })), {}];
      const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
      return createPod([APP], { affinity: { nodeAffinity } });
    },
  },
  {
    title: "changes in the record of an existing manager",
    createPod: (size) => {
      const names = createMany(size, (at) => `c${at}`);
      const record = {
        grace: 45,
        probes: names.flatMap((name) => [`${name}/liveness`, `${name}/startup`]),
        preStop: Object.fromEntries(names.map((name) => [name, null])),
        annotations: Object.fromEntries(names.map((name) => [name, "x"])),
        empty: Object.fromEntries(names.map((name) => [`lifecycle/${name}`, null])),
      };
      const manager = createManager(record, names.map((name) => `${name}:app`).join());
      const hookedContainers = createContainers(size, (at) => ({
        lifecycle: { preStop: { httpGet: { path: `/${TOKEN}/prestop/c${at}`, port: 17_890 } } },
        livenessProbe: { ...probe, terminationGracePeriodSeconds: 45 },
      }));
      return createPod(hookedContainers, { initContainers: [manager] });
    },
  },
  {
    title: "variables and mounts of an existing manager",
    createPod: (size) => {
      const overrides = {
        env: createMany(size, (at) => ({ name: `V${at}`, value: "x" })),
        volumeMounts: createMany(size, (at) => ({ name: "v", mountPath: `/m${at}` })),
      };
      return createPod([APP], { initContainers: [createManager({}, "app:app", overrides)] });
    },
  },
  {
    title: "unknown flags of an existing manager",
    createPod: (size) => {
      const args = ["serve", "--port=17890", ...createMany(size, (at) => `--flag-${at}`)];
      return createPod([APP], { initContainers: [createManager({}, "app:app", { args })] });
    },
  },
  {
    title: "hooks that Istio rewrote",
    createPod: (size) => {
      const names = createMany(size, (at) => `c${at}`);
      const probers = names.map((name) => [
        `/app-lifecycle/${name}/prestopz`,
        { httpGet: { port: 17_890, path: `/${TOKEN}/prestop/${name}` } },
      ]);
      const env = [{ name: "ISTIO_KUBE_APP_PROBERS", value: JSON.stringify(Object.fromEntries(probers)) }];
      const rewrittenContainers = createContainers(size, (at) => ({
        lifecycle: { preStop: { httpGet: { path: `/app-lifecycle/c${at}/prestopz`, port: 15_020 } } },
      }));
      const manager = createManager({}, names.map((name) => `${name}:app`).join());
      return createPod([...rewrittenContainers, { name: "istio-proxy", image: "x", env }], {
        initContainers: [manager],
      });
    },
  },
];
