/** Tests the volume mount through which the manager reaches a driver's Unix socket, and which must not prevent the Pod's start. */
import { describe, expect, test } from "vitest";
import { inject, injectedPodOf, problemCodesOf } from "./injector-inputs.ts";

type JsonObject = { readonly [key: string]: unknown };

const APP = { name: "app", image: "app:1" };
const ENVOY = { name: "envoy", image: "envoyproxy/envoy:v1.36.0" };

function createPodWithDriverUrl(
  url: string,
  containers: readonly JsonObject[],
  volumes: readonly JsonObject[] = [],
): JsonObject {
  return { metadata: { annotations: { "lastcall.dev/driver-url": url } }, spec: { containers, volumes } };
}

function mountsOf(pod: JsonObject): unknown {
  const { spec } = injectedPodOf(pod) as { readonly spec: { readonly initContainers: readonly JsonObject[] } };
  return spec.initContainers[0]?.["volumeMounts"];
}

function withMounts(container: JsonObject, ...volumeMounts: readonly JsonObject[]): JsonObject {
  return { ...container, volumeMounts };
}

describe("a driver that does not support Unix sockets", () => {
  test("causes a problem if its URL is that of a Unix socket", () => {
    const mount = { name: "run", mountPath: "/run/proxy" };
    const createPodWithDriver = (driver: string, url = "unix:/run/proxy/a.sock") => ({
      metadata: { annotations: { "lastcall.dev/driver-url": url, "lastcall.dev/driver": driver } },
      spec: { containers: [withMounts(APP, mount)] },
    });
    expect(problemCodesOf(inject(createPodWithDriver("linkerd")))).toContain("conflicting_values");
    expect(problemCodesOf(inject(createPodWithDriver("envoy")))).not.toContain("conflicting_values");
    expect(problemCodesOf(inject(createPodWithDriver("linkerd", "http://127.0.0.1:4191")))).not.toContain(
      "conflicting_values",
    );
  });
});

describe("the mount of a driver's socket", () => {
  test("is a read-only copy of the proxy's mount", () => {
    const mount = { name: "admin", mountPath: "/admin", subPath: "envoy" };
    const pod = createPodWithDriverUrl("unix:/admin/admin.sock", [APP, withMounts(ENVOY, mount)]);
    expect(mountsOf(pod)).toEqual([{ ...mount, readOnly: true }]);
  });

  test("is a copy of the proxy's mount even if an app mounts another volume at the same path", () => {
    const app = withMounts(APP, { name: "app-tmp", mountPath: "/tmp" }, { name: "app-in", mountPath: "/tmp/in" });
    const pod = createPodWithDriverUrl("unix:/tmp/in/a.sock", [
      app,
      withMounts(ENVOY, { name: "envoy-tmp", mountPath: "/tmp" }),
    ]);
    expect(mountsOf(pod)).toEqual([{ name: "envoy-tmp", mountPath: "/tmp", readOnly: true }]);
  });

  test("is never a mount of a ConfigMap or Secret volume, which cannot contain a socket", () => {
    const mount = { name: "v", mountPath: "/run/envoy" };
    for (const kind of ["configMap", "secret", "projected", "downwardAPI", "image"]) {
      const pod = createPodWithDriverUrl(
        "unix:/run/envoy/a.sock",
        [withMounts(ENVOY, mount)],
        [{ name: "v", [kind]: {} }],
      );
      expect(mountsOf(pod)).toBeUndefined();
      expect(problemCodesOf(inject(pod))).toContain("socket_unmounted");
    }
    const pod = createPodWithDriverUrl(
      "unix:/run/envoy/a.sock",
      [withMounts(ENVOY, mount)],
      [{ name: "v", emptyDir: {} }],
    );
    expect(mountsOf(pod)).toEqual([{ ...mount, readOnly: true }]);
  });

  test("does not have mount propagation, which the API server allows only for privileged containers", () => {
    const mount = { name: "run", mountPath: "/run/envoy", mountPropagation: "Bidirectional" };
    const pod = createPodWithDriverUrl("unix:/run/envoy/a.sock", [withMounts(ENVOY, mount)]);
    expect(mountsOf(pod)).toEqual([{ name: "run", mountPath: "/run/envoy", readOnly: true }]);
  });

  test("is not added, and a problem is reported, if its path depends on another container's variables", () => {
    const mount = { name: "run", mountPath: "/run/envoy", subPathExpr: "$(INSTANCE)" };
    const pod = createPodWithDriverUrl("unix:/run/envoy/a.sock", [withMounts(ENVOY, mount)]);
    expect(mountsOf(pod)).toBeUndefined();
    expect(problemCodesOf(inject(pod))).toContain("socket_unmounted");
  });

  test("is writable at /var/run and its parent directories, where the container runtime creates the ServiceAccount token's directory", () => {
    for (const mountPath of ["/var/run", "/var/run/", "/var"]) {
      const pod = createPodWithDriverUrl("unix:/var/run/a.sock", [withMounts(ENVOY, { name: "run", mountPath })]);
      expect(mountsOf(pod)).toEqual([{ name: "run", mountPath }]);
      expect(inject(injectedPodOf(pod)).kind).not.toBe("patched");
    }
    const reader = withMounts(ENVOY, { name: "run", mountPath: "/var/run", readOnly: true });
    expect(mountsOf(createPodWithDriverUrl("unix:/var/run/a.sock", [reader]))).toMatchObject([{ readOnly: true }]);
  });

  test("is added even if the socket's path has redundant slashes and dots", () => {
    const envoy = withMounts(ENVOY, { name: "admin", mountPath: "/admin/" });
    for (const path of ["///admin/a.sock", "/admin//a.sock", "/./admin/./a.sock"]) {
      const pod = createPodWithDriverUrl(`unix:${path}`, [envoy]);
      expect(mountsOf(pod)).toEqual([{ name: "admin", mountPath: "/admin/", readOnly: true }]);
      expect(problemCodesOf(inject(pod))).not.toContain("socket_unmounted");
    }
  });
});
