import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { loadKubeConfig } from "../../src/api-server/load-kube-config.ts";

const folder = mkdtempSync(join(tmpdir(), "lastcall-connection-"));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(text: string): string {
  const path = join(folder, `${Math.random()}.yaml`);
  writeFileSync(path, text);
  return path;
}

const WHOLE = `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443/"}}]
users: [{name: u, user: {token: abc}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;

test("a kubeconfig leads to its cluster", async () => {
  const connection = await loadKubeConfig({ kubeconfigFile: fileWith(WHOLE) });
  expect(connection.getCurrentCluster()?.server).toBe("https://127.0.0.1:6443");
});

test.for([
  { says: "is absent", file: () => join(folder, "absent"), tells: "absent: ENOENT" },
  { says: "is no YAML", file: () => fileWith("a: [\n"), tells: ".yaml: " },
  { says: "is empty", file: () => fileWith(""), tells: ".yaml: " },
  { says: "lacks the server", file: () => fileWith("clusters: [{name: c, cluster: {}}]"), tells: "server is missing" },
  {
    says: "names a context that is not there",
    file: () => fileWith(WHOLE.replace("current-context: x", "current-context: y")),
    tells: 'current-context "y" leads to no cluster',
  },
  { says: "names no context", file: () => fileWith("clusters: []"), tells: "current-context is missing" },
])("a kubeconfig that $says is refused with its name", async ({ file, tells }) => {
  await expect(loadKubeConfig({ kubeconfigFile: file() })).rejects.toThrow(tells);
});

test("outside of a Pod a kubeconfig is asked for", async () => {
  vi.stubEnv("KUBERNETES_SERVICE_HOST", undefined);
  vi.stubEnv("KUBERNETES_SERVICE_PORT", undefined);
  await expect(loadKubeConfig({ kubeconfigFile: "" })).rejects.toThrow("not running in a Pod; set --kubeconfig FILE");
  vi.unstubAllEnvs();
});

test("inside of a Pod its own account is used, IPv6 included", async () => {
  vi.stubEnv("KUBERNETES_SERVICE_HOST", "fd00::1");
  vi.stubEnv("KUBERNETES_SERVICE_PORT", "443");
  const connection = await loadKubeConfig({ kubeconfigFile: "" });
  expect(connection.getCurrentCluster()?.server).toBe("https://[fd00::1]:443");
  vi.unstubAllEnvs();
});
