import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { loadKubeConfig } from "../../src/api-server/load-kube-config.ts";

const folder = mkdtempSync(join(tmpdir(), "lastcall-connection-"));
afterAll(() => rmSync(folder, { recursive: true }));

function writeKubeconfig(text: string): string {
  const path = join(folder, `${Math.random()}.yaml`);
  writeFileSync(path, text);
  return path;
}

const KUBECONFIG = `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443/"}}]
users: [{name: u, user: {token: abc}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;

test("the current context of a kubeconfig selects the cluster", async () => {
  const connection = await loadKubeConfig({ kubeconfigFile: writeKubeconfig(KUBECONFIG) });
  expect(connection.getCurrentCluster()?.server).toBe("https://127.0.0.1:6443");
});

test.for([
  { title: "that is absent", file: () => join(folder, "absent"), message: "absent: ENOENT" },
  { title: "that is not YAML", file: () => writeKubeconfig("a: [\n"), message: ".yaml: " },
  { title: "that is empty", file: () => writeKubeconfig(""), message: ".yaml: " },
  {
    title: "without a server",
    file: () => writeKubeconfig("clusters: [{name: c, cluster: {}}]"),
    message: "server is missing",
  },
  {
    title: "with an unknown context",
    file: () => writeKubeconfig(KUBECONFIG.replace("current-context: x", "current-context: y")),
    message: 'current-context "y" has no cluster with a server URL; select a context with kubectl config use-context',
  },
  {
    title: "without a context",
    file: () => writeKubeconfig("clusters: []"),
    message: "current-context is not set; select a context with kubectl config use-context",
  },
])("a kubeconfig $title is rejected, with its name in the message", async ({ file, message }) => {
  await expect(loadKubeConfig({ kubeconfigFile: file() })).rejects.toThrow(message);
});

test("without a kubeconfig, the API client must run in a Pod", async () => {
  vi.stubEnv("KUBERNETES_SERVICE_HOST", undefined);
  vi.stubEnv("KUBERNETES_SERVICE_PORT", undefined);
  await expect(loadKubeConfig({ kubeconfigFile: "" })).rejects.toThrow(
    "this process does not run in a Pod; set --kubeconfig FILE",
  );
  vi.unstubAllEnvs();
});

test("in a Pod, the API client uses the Pod's ServiceAccount, even with IPv6", async () => {
  vi.stubEnv("KUBERNETES_SERVICE_HOST", "fd00::1");
  vi.stubEnv("KUBERNETES_SERVICE_PORT", "443");
  const connection = await loadKubeConfig({ kubeconfigFile: "" });
  expect(connection.getCurrentCluster()?.server).toBe("https://[fd00::1]:443");
  vi.unstubAllEnvs();
});
