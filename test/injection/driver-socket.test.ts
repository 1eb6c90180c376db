/** The manager's mount for a driver's Unix socket: it reaches the socket, and the Pod still starts. */
import { describe, expect, test } from "vitest";
import { codes, inject, injected } from "./injector-inputs.ts";

type Loose = { readonly [key: string]: unknown };

const APP = { name: "app", image: "app:1" };
const ENVOY = { name: "envoy", image: "envoyproxy/envoy:v1.36.0" };

function podAt(url: string, containers: readonly Loose[], volumes: readonly Loose[] = []): Loose {
  return { metadata: { annotations: { "lastcall.dev/driver-url": url } }, spec: { containers, volumes } };
}

function mountsIn(pod: Loose): unknown {
  const { spec } = injected(pod) as { readonly spec: { readonly initContainers: readonly Loose[] } };
  return spec.initContainers[0]?.["volumeMounts"];
}

function mounting(container: Loose, ...volumeMounts: readonly Loose[]): Loose {
  return { ...container, volumeMounts };
}

describe("a driver without Unix sockets", () => {
  test("is rejected if its URL is of a socket", () => {
    const mount = { name: "run", mountPath: "/run/proxy" };
    const named = (driver: string, url = "unix:/run/proxy/a.sock") => ({
      metadata: { annotations: { "lastcall.dev/driver-url": url, "lastcall.dev/driver": driver } },
      spec: { containers: [mounting(APP, mount)] },
    });
    expect(codes(inject(named("linkerd")))).toContain("conflicting_values");
    expect(codes(inject(named("envoy")))).not.toContain("conflicting_values");
    expect(codes(inject(named("linkerd", "http://127.0.0.1:4191")))).not.toContain("conflicting_values");
  });
});

describe("the mount of a driver's socket", () => {
  test("is a read-only copy of the proxy's mount", () => {
    const mount = { name: "admin", mountPath: "/admin", subPath: "envoy" };
    const pod = podAt("unix:/admin/admin.sock", [APP, mounting(ENVOY, mount)]);
    expect(mountsIn(pod)).toEqual([{ ...mount, readOnly: true }]);
  });

  test("is a copy of the proxy's even if an app mounts its own folder of that path", () => {
    const app = mounting(APP, { name: "app-tmp", mountPath: "/tmp" }, { name: "app-in", mountPath: "/tmp/in" });
    const pod = podAt("unix:/tmp/in/a.sock", [app, mounting(ENVOY, { name: "envoy-tmp", mountPath: "/tmp" })]);
    expect(mountsIn(pod)).toEqual([{ name: "envoy-tmp", mountPath: "/tmp", readOnly: true }]);
  });

  test("is never of a ConfigMap or Secret volume, which cannot contain a socket", () => {
    const mount = { name: "v", mountPath: "/run/envoy" };
    for (const kind of ["configMap", "secret", "projected", "downwardAPI", "image"]) {
      const pod = podAt("unix:/run/envoy/a.sock", [mounting(ENVOY, mount)], [{ name: "v", [kind]: {} }]);
      expect(mountsIn(pod)).toBeUndefined();
      expect(codes(inject(pod))).toContain("socket_unmounted");
    }
    const pod = podAt("unix:/run/envoy/a.sock", [mounting(ENVOY, mount)], [{ name: "v", emptyDir: {} }]);
    expect(mountsIn(pod)).toEqual([{ ...mount, readOnly: true }]);
  });

  test("has no mount propagation, which the API server allows only for privileged containers", () => {
    const mount = { name: "run", mountPath: "/run/envoy", mountPropagation: "Bidirectional" };
    const pod = podAt("unix:/run/envoy/a.sock", [mounting(ENVOY, mount)]);
    expect(mountsIn(pod)).toEqual([{ name: "run", mountPath: "/run/envoy", readOnly: true }]);
  });

  test("is missing, and a problem is reported, if its path depends on another container's variables", () => {
    const mount = { name: "run", mountPath: "/run/envoy", subPathExpr: "$(INSTANCE)" };
    const pod = podAt("unix:/run/envoy/a.sock", [mounting(ENVOY, mount)]);
    expect(mountsIn(pod)).toBeUndefined();
    expect(codes(inject(pod))).toContain("socket_unmounted");
  });

  test("is writable at /var/run and above, where the runtime creates the folder of the Pod's token", () => {
    for (const mountPath of ["/var/run", "/var/run/", "/var"]) {
      const pod = podAt("unix:/var/run/a.sock", [mounting(ENVOY, { name: "run", mountPath })]);
      expect(mountsIn(pod)).toEqual([{ name: "run", mountPath }]);
      expect(inject(injected(pod)).kind).not.toBe("patched");
    }
    const reader = mounting(ENVOY, { name: "run", mountPath: "/var/run", readOnly: true });
    expect(mountsIn(podAt("unix:/var/run/a.sock", [reader]))).toMatchObject([{ readOnly: true }]);
  });

  test("is added even if the socket's path has redundant slashes and dots", () => {
    const envoy = mounting(ENVOY, { name: "admin", mountPath: "/admin/" });
    for (const path of ["///admin/a.sock", "/admin//a.sock", "/./admin/./a.sock"]) {
      const pod = podAt(`unix:${path}`, [envoy]);
      expect(mountsIn(pod)).toEqual([{ name: "admin", mountPath: "/admin/", readOnly: true }]);
      expect(codes(inject(pod))).not.toContain("socket_unmounted");
    }
  });
});
