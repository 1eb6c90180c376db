/** Tests a second injection: unexpected fields cause the replacement of the manager's container, allowed fields stay. */
import { describe, expect, test } from "vitest";
import { inject, injectedPodOf, TOKEN } from "./injector-inputs.ts";

type JsonObject = { [key: string]: unknown };

const WEB = { metadata: { name: "web-0" }, spec: { containers: [{ name: "app", image: "app:1" }] } };

/** Returns an injected Pod whose manager is modified by `change`. */
function createPodWithManager(change: (manager: JsonObject) => JsonObject): object {
  const pod = structuredClone(injectedPodOf(WEB)) as { spec: { initContainers: JsonObject[] } };
  pod.spec.initContainers = pod.spec.initContainers.map(change);
  return pod;
}

const withSecurityContext = (fields: JsonObject) => (manager: JsonObject) => ({
  ...manager,
  securityContext: { ...(manager["securityContext"] as JsonObject), ...fields },
});

describe("a manager with an unexpected field is replaced in one injection:", () => {
  test.for<[string, (manager: JsonObject) => JsonObject]>([
    ["a command", (manager) => ({ ...manager, command: ["/bin/sh", "-c", "true"] })],
    [
      "a command and a mirror's image",
      (manager) => ({ ...manager, command: ["x"], image: "a.example/lastcall-manager:0.1.0" }),
    ],
    [
      "a command and an additional variable",
      (manager) => ({
        ...manager,
        command: ["x"],
        env: [...(manager["env"] as JsonObject[]), { name: "X", value: "y" }],
      }),
    ],
    ["a working folder", (manager) => ({ ...manager, workingDir: "/tmp" })],
    ["a probe", (manager) => ({ ...manager, livenessProbe: { exec: { command: ["x"] } } })],
    ["ports", (manager) => ({ ...manager, ports: [{ containerPort: 17_890, hostPort: 80 }] })],
    ["a terminal", (manager) => ({ ...manager, tty: true })],
    [
      "a postStart hook",
      (manager) => ({
        ...manager,
        lifecycle: { ...(manager["lifecycle"] as JsonObject), postStart: { exec: { command: ["x"] } } },
      }),
    ],
    ["privileged mode", withSecurityContext({ privileged: true })],
    ["an additional capability", withSecurityContext({ capabilities: { drop: ["ALL"], add: ["SYS_ADMIN"] } })],
    [
      "a duplicate variable",
      (manager) => ({
        ...manager,
        env: [...(manager["env"] as JsonObject[]), { name: "LASTCALL_TOKEN", value: "e".repeat(32) }],
      }),
    ],
  ])("%s", ([, change]) => {
    const pod = createPodWithManager(change);
    expect(inject(pod)).toMatchObject({ kind: "patched", pod: injectedPodOf(WEB) });
    expect(injectedPodOf(pod)).toEqual(injectedPodOf(WEB));
    expect(inject(injectedPodOf(pod))).toMatchObject({ reason: "up_to_date" });
  });
});

describe("fields that the API server or other webhooks add to the manager stay:", () => {
  test.for<[string, (manager: JsonObject) => JsonObject]>([
    [
      "defaults",
      (manager) => ({
        ...manager,
        imagePullPolicy: "IfNotPresent",
        terminationMessagePath: "/dev/x",
        terminationMessagePolicy: "File",
      }),
    ],
    [
      "a resize policy",
      (manager) => ({ ...manager, resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }] }),
    ],
    [
      "variables and mounts",
      (manager) => ({
        ...manager,
        env: [...(manager["env"] as JsonObject[]), { name: "X", value: "$(Y)" }],
        envFrom: [{ configMapRef: { name: "x" } }],
        volumeMounts: [{ name: "x", mountPath: "/x" }],
      }),
    ],
    [
      "a profile of a security module",
      withSecurityContext({ seLinuxOptions: { level: "s0" }, appArmorProfile: { type: "RuntimeDefault" } }),
    ],
    [
      "a mirror in front of the registry",
      (manager) => ({ ...manager, image: "mirror.example:5000/cache/lastcall-manager:0.1.0" }),
    ],
  ])("%s", ([, change]) => {
    expect(inject(createPodWithManager(change))).toMatchObject({ reason: "up_to_date" });
  });
});

test("a second injection accepts a mirror of the manager's image only if the mirror's path ends with the whole original path", () => {
  const facts = { managerImage: "registry.example/lastcall/manager:0.1.0" };
  const pod = injectedPodOf(WEB, { facts }) as { spec: { initContainers: JsonObject[] } };
  const withImage = (image: string) => ({
    ...pod,
    spec: { ...pod.spec, initContainers: pod.spec.initContainers.map((each) => ({ ...each, image })) },
  });
  expect(inject(withImage("mirror.example/registry.example/lastcall/manager:0.1.0"), { facts })).toMatchObject({
    reason: "up_to_date",
  });
  for (const image of ["mirror.example/manager:0.1.0", "evil/lastcall/manager:0.1.1", "x/notlastcall/manager:0.1.0"])
    expect(injectedPodOf(withImage(image), { facts })).toEqual(pod);
});

test("an injection record that contradicts itself is replaced in one injection", () => {
  const originalRecord = '{"grace":45,"empty":{"grace":null,"initContainers":{},"lifecycle/app":[]}}';
  const manager = {
    name: "lastcall",
    image: "x",
    args: ["serve", "--port=17890", "--hooks=app:app"],
    env: [{ name: "LASTCALL_ORIGINAL", value: originalRecord }],
  };
  const preStop = { httpGet: { path: `/${TOKEN}/prestop/app`, port: 17_890 } };
  const containers = [{ name: "app", image: "x", lifecycle: { preStop } }];
  for (const spec of [
    { initContainers: [manager], containers, terminationGracePeriodSeconds: null },
    { initContainers: [manager], containers },
    { initContainers: null, containers: [manager, ...containers], terminationGracePeriodSeconds: null },
  ])
    expect(inject(injectedPodOf({ spec }))).toMatchObject({ reason: "up_to_date" });
});

test("a Pod that contains only a manager is skipped", () => {
  const manager = { name: "lastcall", image: "x", args: ["serve", "--port=17890"] };
  expect(inject({ spec: { containers: [manager] } })).toMatchObject({ kind: "unchanged", reason: "invalid_pod" });
});
