/** Tests the detected driver, its admin address, and the user with which the manager connects to it. */
import { describe, expect, test } from "vitest";
import { driverRow } from "../../src/contract/driver-table.ts";
import { adminUrlOf } from "../../src/injection/mesh/driver.ts";
import { copySocketMount, findSocketUser } from "../../src/injection/mesh/driver-socket.ts";
import { resolvePolicy } from "../../src/policy/resolve.ts";
import { injectedPodOf } from "./injector-inputs.ts";

type JsonObject = { readonly [key: string]: unknown };

/** Returns the manager's flags about the driver. */
function driverFlagsOf(pod: JsonObject): readonly string[] {
  const { spec } = injectedPodOf(pod) as { readonly spec: { readonly initContainers: readonly JsonObject[] } };
  const args = spec.initContainers[0]?.["args"] as readonly string[];
  return args.filter((arg) => arg.startsWith("--driver"));
}

function managerUserOf(pod: JsonObject): unknown {
  const { spec } = injectedPodOf(pod) as { readonly spec: { readonly initContainers: readonly JsonObject[] } };
  const context = spec.initContainers[0]?.["securityContext"];
  return (context as JsonObject | undefined)?.["runAsUser"];
}

const ENVOY = { name: "envoy", image: "docker.io/envoyproxy/envoy:distroless-v1.36.0" };
const APP = { name: "app", image: "app:1" };
const SOCKET_MOUNT = { name: "envoy-admin", mountPath: "/admin" };
const CONTOUR = {
  name: "shutdown-manager",
  image: "contour:main",
  command: ["/bin/contour"],
  volumeMounts: [SOCKET_MOUNT],
};

function envoyFlagsFor(url: string) {
  return ["--driver=envoy", `--driver-url=${url}`];
}

describe("without a setting, the admin address", () => {
  test("of an Envoy without a known product is not set, and the driver tries the default addresses", () => {
    expect(driverFlagsOf({ spec: { containers: [ENVOY] } })).toEqual(["--driver=envoy"]);
  });

  test("of an Envoy whose container declares an admin port has that port", () => {
    const ports = [
      { name: "http", containerPort: 8080 },
      { name: "admin", containerPort: 5001 },
    ];
    expect(driverFlagsOf({ spec: { containers: [APP, { ...ENVOY, ports }] } })).toEqual(
      envoyFlagsFor("http://127.0.0.1:5001"),
    );
    const appWithPorts = { ...APP, ports: [{ name: "admin", containerPort: 9000 }] };
    expect(driverFlagsOf({ spec: { containers: [appWithPorts, ENVOY] } })).toEqual(["--driver=envoy"]);
  });

  test("of Envoy Gateway is chosen by the Pod's labels or the container's command", () => {
    const labels = { "gateway.envoyproxy.io/owning-gateway-name": "eg" };
    const program = { name: "shutdown-manager", image: "gateway:1", command: ["envoy-gateway"] };
    expect(driverFlagsOf({ metadata: { labels }, spec: { containers: [ENVOY] } })).toEqual(
      envoyFlagsFor("http://127.0.0.1:19000"),
    );
    expect(driverFlagsOf({ spec: { containers: [ENVOY, program] } })).toEqual(envoyFlagsFor("http://127.0.0.1:19000"));
  });

  test("of Contour is Contour's Unix socket, if the folder is mounted", () => {
    const envoyWithMount = { ...ENVOY, volumeMounts: [SOCKET_MOUNT] };
    expect(driverFlagsOf({ spec: { containers: [CONTOUR, envoyWithMount] } })).toEqual(
      envoyFlagsFor("unix:/admin/admin.sock"),
    );
    const contourWithoutMounts = { ...CONTOUR, volumeMounts: [] };
    expect(driverFlagsOf({ spec: { containers: [contourWithoutMounts, ENVOY] } })).toEqual(["--driver=envoy"]);
  });

  test("of an Istio gateway is Istio's default, with the driver envoy", () => {
    expect(driverFlagsOf({ spec: { containers: [{ name: "istio-proxy" }] } })).toEqual(
      envoyFlagsFor("http://127.0.0.1:15000"),
    );
    const router = { name: "istio-proxy", args: ["proxy", "router"] };
    expect(driverFlagsOf({ spec: { containers: [router, APP] } })).toEqual(envoyFlagsFor("http://127.0.0.1:15000"));
  });

  test("of a mesh's sidecar is the mesh's default", () => {
    const createSidecar = (name: string) => ({
      spec: { containers: [APP], initContainers: [{ name, restartPolicy: "Always" }] },
    });
    expect(driverFlagsOf(createSidecar("istio-proxy"))).toEqual([
      "--driver=istio",
      "--driver-url=http://127.0.0.1:15000",
    ]);
    expect(driverFlagsOf(createSidecar("linkerd-proxy"))).toEqual([
      "--driver=linkerd",
      "--driver-url=http://127.0.0.1:4191",
    ]);
  });

  test("of a proxy without an admin interface is not set", () => {
    for (const image of [
      "haproxy:3.0",
      "traefik:v3.4",
      "nginx:1.29",
      "registry.k8s.io/ingress-nginx/controller:v1.15",
    ]) {
      expect(driverFlagsOf({ spec: { containers: [{ name: "proxy", image }] } })).toEqual(["--driver=none"]);
    }
  });
});

test("a configured admin address is passed to the manager unchanged", () => {
  const annotations = { "lastcall.dev/driver-url": "http://127.0.0.1:9001" };
  const labels = { "gateway.envoyproxy.io/owning-gateway-name": "eg" };
  const pod = { metadata: { annotations, labels }, spec: { containers: [ENVOY] } };
  expect(driverFlagsOf(pod)).toEqual(envoyFlagsFor("http://127.0.0.1:9001"));
});

describe("the manager connects to a Unix socket as", () => {
  const envoy = { ...ENVOY, volumeMounts: [SOCKET_MOUNT] };

  test("the Pod's user, if that user may write to the socket", () => {
    const spec = { securityContext: { runAsUser: 65_534 }, containers: [CONTOUR, envoy] };
    expect(managerUserOf({ spec })).toBe(65_534);
  });

  test("the proxy container's own user, if that user may write to the socket", () => {
    const envoyWithUser = { ...envoy, securityContext: { runAsUser: 101 } };
    expect(managerUserOf({ spec: { securityContext: { runAsUser: 65_534 }, containers: [APP, envoyWithUser] } })).toBe(
      17_890,
    );
    const annotations = { "lastcall.dev/driver-url": "unix:/admin/admin.sock" };
    const spec = { securityContext: { runAsUser: 65_534 }, containers: [APP, envoyWithUser] };
    expect(managerUserOf({ metadata: { annotations }, spec })).toBe(101);
  });

  test("neither root nor a user that may only read the socket's folder", () => {
    const annotations = { "lastcall.dev/driver-url": "unix:/admin/admin.sock" };
    const rootEnvoy = { ...envoy, securityContext: { runAsUser: 0 } };
    expect(managerUserOf({ metadata: { annotations }, spec: { containers: [rootEnvoy] } })).toBe(17_890);
    const reader = { ...APP, securityContext: { runAsUser: 7 }, volumeMounts: [{ ...SOCKET_MOUNT, readOnly: true }] };
    const spec = { containers: [reader, { ...envoy, securityContext: { runAsUser: 101 } }] };
    expect(managerUserOf({ metadata: { annotations }, spec })).toBe(101);
  });
});

describe("a driver with its own default URLs and socket, in a Pod with an Envoy,", () => {
  const URLS = ["http://127.0.0.1:7001", "http://127.0.0.1:7002"];
  const row = { ...driverRow("linkerd"), defaultUrls: URLS, reachesUnixSockets: true };
  const mount = { name: "own", mountPath: "/admin" };
  const proxy = { ...APP, name: "proxy", volumeMounts: [mount], securityContext: { runAsUser: 7 } };
  const ports = [{ name: "admin", containerPort: 5001 }];
  const envoy = { ...ENVOY, ports, volumeMounts: [SOCKET_MOUNT], securityContext: { runAsUser: 101 } };
  const pod = { spec: { containers: [proxy, envoy] } };

  test("has its own default URL", () => {
    expect(adminUrlOf(pod, resolvePolicy([], {}).policy, row)).toBe("http://127.0.0.1:7001");
    expect(adminUrlOf(pod, resolvePolicy([], {}).policy, driverRow("envoy"))).toBe("http://127.0.0.1:5001");
  });

  test("gets the mount and the user of the first container that mounts the socket's folder", () => {
    const address = { driverUrl: "unix:/admin/admin.sock", row };
    expect(copySocketMount(pod, address)).toEqual({ ...mount, readOnly: true });
    expect(findSocketUser(pod, address)).toBe(7);
    const envoyAddress = { ...address, row: driverRow("envoy") };
    expect(copySocketMount(pod, envoyAddress)).toEqual({ ...SOCKET_MOUNT, readOnly: true });
    expect(findSocketUser(pod, envoyAddress)).toBe(101);
  });
});
