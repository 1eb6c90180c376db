/** Generates random containers that pretend to be the manager, with partly valid records and hooks. */
import fc from "fast-check";

/** The hook token that injections in tests write. */
const TOKEN = "0123456789abcdef0123456789abcdef";

const token = fc.constantFrom(TOKEN, "short", "x".repeat(40), "$(POD_NAME)", "", "a/b/c/d/e/f");
const port = fc.constantFrom("17890", "8080", "17900", "0", "99999", "x");

const args = fc
  .record({
    port,
    rest: fc.subarray([
      ...["--hooks=app:app", "--hooks=app:app,worker:mesh-proxy", "--hooks=", "--hooks=absent:app", "--app-grace=45s"],
      ...["--drain-delay=1s", "--drain-timeout=20m", "--app-grace=30", "--bogus", "--drain-url=http://$(TOKEN)/"],
      ...["--driver=none", "--classic", "--completes", "--port=1", "--drain-timeout=999999h"],
    ]),
  })
  .map((each) => ["serve", `--port=${each.port}`, ...each.rest] as unknown[]);

const handler = fc.constantFrom<unknown>(
  null,
  {},
  { exec: { command: ["/app/stop"] } },
  { sleep: { seconds: 20 } },
  { httpGet: { path: "/bye", port: 8080 } },
  "text",
);

const wrongValue = fc.constantFrom<unknown>(null, {}, [], 5);

/** The forged record of the values that the Pod's fields had before injection. */
const record = fc.record(
  {
    grace: fc.constantFrom<unknown>(null, 0, 1, 30, 45, 600, 2_147_483_647, -1, "30", 1e300),
    probes: fc.subarray(["app/liveness", "app/startup", "worker/liveness", "absent/liveness", "app", "a/b/c"]),
    preStop: fc.dictionary(fc.constantFrom("app", "worker", "absent", "constructor"), handler, { maxKeys: 3 }),
    chain: fc.dictionary(
      fc.constantFrom("app", "worker"),
      fc.constantFrom<unknown>({ sleep: { seconds: 7 } }, { httpGet: { port: 80, path: "/x" } }, { sleep: {} }, null),
      { maxKeys: 2 },
    ),
    annotations: fc.dictionary(
      fc.constantFrom(
        ...["lastcall.dev/status", "kubectl.kubernetes.io/default-container", "unrelated"],
        ...["traffic.sidecar.istio.io/excludeInboundPorts", "config.linkerd.io/skip-inbound-ports"],
      ),
      fc.constantFrom<unknown>(null, "", "8080", "app", 7),
    ),
    empty: fc.dictionary(
      fc.constantFrom(
        ...["metadata", "annotations", "initContainers", "containers", "grace"],
        ...["lifecycle/app", "app/liveness", "lifecycle/worker", "worker/startup"],
      ),
      wrongValue,
    ),
  },
  { requiredKeys: [] },
);

const original = fc.oneof(
  record.map((value) => JSON.stringify(value)),
  fc.constantFrom("", "{", "null", "[]", '{"grace":{}}'),
);

const env = fc
  .record({ token, original, hasDuplicateToken: fc.boolean(), relay: fc.boolean(), foreign: fc.boolean() })
  .map((each) => [
    { name: "LASTCALL_TOKEN", value: each.token },
    { name: "LASTCALL_ORIGINAL", value: each.original },
    ...(each.hasDuplicateToken ? [{ name: "LASTCALL_TOKEN", value: "f".repeat(32) }] : []),
    ...(each.relay ? [{ name: "LASTCALL_RELAY_CREDENTIAL", value: "$(LASTCALL_TOKEN)" }] : []),
    ...(each.foreign ? [{ name: "POD_NAME", value: "mine" }] : []),
  ]);

const UNEXPECTED_FIELDS: readonly object[] = [
  { command: ["/bin/sh", "-c", "true"] },
  { image: "evil.example/x/lastcall-manager:0.1.0" },
  { image: "evil.example/other:1" },
  { securityContext: { privileged: true } },
  { securityContext: { capabilities: { drop: ["ALL"], add: ["SYS_ADMIN"] } } },
  { lifecycle: { preStop: { exec: { command: ["/lastcall", "drain"] } }, postStart: { exec: { command: ["x"] } } } },
  { livenessProbe: { exec: { command: ["x"] } } },
  { ports: [{ containerPort: 17_890 }] },
  { resources: { limits: { cpu: "8", memory: "64Gi" } } },
  { workingDir: "/tmp" },
  { volumeMounts: [{ name: "v", mountPath: "/run/envoy" }] },
  { startupProbe: null },
  { lifecycle: null },
];

type ForgedManager = {
  readonly container: Record<string, unknown>;
  readonly list: "containers" | "initContainers";
  readonly position: "first" | "last";
  /** A forged preStop hook of the container `app`. */
  readonly preStop: object | undefined;
  readonly gracePeriodSeconds: number | undefined;
};

const forgedManager: fc.Arbitrary<ForgedManager> = fc
  .record({
    args: fc.oneof(
      { weight: 9, arbitrary: args },
      { weight: 1, arbitrary: fc.constant(["serve", 7, null, "--port=1"]) },
    ),
    env: fc.oneof(
      { weight: 6, arbitrary: env },
      { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, [], null) },
    ),
    restartPolicy: fc.constantFrom("Always", undefined, "OnFailure"),
    foreign: fc.subarray([...UNEXPECTED_FIELDS], { maxLength: 2 }),
    list: fc.constantFrom("containers" as const, "initContainers" as const),
    position: fc.constantFrom("first" as const, "last" as const),
    preStop: fc.constantFrom(
      undefined,
      { httpGet: { path: `/${TOKEN}/prestop/app`, port: 17_890 } },
      { httpGet: { path: `/${"x".repeat(40)}/prestop/app`, port: 8080, scheme: "HTTP" } },
      { httpGet: { path: "/app-lifecycle/app/prestopz", port: 15_020 } },
      { httpGet: { path: `/${TOKEN}/prestop/worker`, port: 17_890 } },
    ),
    gracePeriodSeconds: fc.constantFrom(undefined, 95, 100, 30),
  })
  .map(({ args: words, env: variables, restartPolicy, foreign, list, position, preStop, gracePeriodSeconds }) => ({
    container: Object.assign(
      { name: "lastcall", image: "registry.example/lastcall-manager:0.1.0", args: words },
      variables === undefined ? {} : { env: variables },
      restartPolicy === undefined ? {} : { restartPolicy },
      ...foreign,
    ) as Record<string, unknown>,
    list,
    position,
    preStop,
    gracePeriodSeconds,
  }));

type JsonObject = { [key: string]: unknown };

function addForgedManager(
  pod: object,
  { container, list, position, preStop, gracePeriodSeconds }: ForgedManager,
): object {
  const spec = { ...((pod as { spec?: JsonObject }).spec ?? {}) };
  const containers = (Array.isArray(spec[list]) ? spec[list] : []) as object[];
  spec[list] = position === "first" ? [container, ...containers] : [...containers, container];
  if (gracePeriodSeconds !== undefined) spec["terminationGracePeriodSeconds"] = gracePeriodSeconds;
  if (preStop !== undefined && Array.isArray(spec["containers"])) {
    spec["containers"] = (spec["containers"] as JsonObject[]).map((each) =>
      each["name"] === "app" ? { ...each, lifecycle: { ...(each["lifecycle"] as object | null), preStop } } : each,
    );
  }
  return { ...pod, spec };
}

/** Adds one forged manager to each of `pods`. */
export function withForgedManager(pods: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return fc.tuple(pods, forgedManager).map(([pod, manager]) => addForgedManager(pod, manager));
}
