/** Tests which kubeconfig and context the command line uses, and its messages if one of them is not usable. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { connectCluster, type UserEnvironment } from "../../../src/cli/cluster-connection.ts";
import { kubeconfigFor } from "./fake-cluster.ts";

const folder = mkdtempSync(join(tmpdir(), "lastcall-kubeconfig-"));
afterAll(() => rmSync(folder, { recursive: true }));

function writeKubeconfig(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const FIRST_FILE = writeKubeconfig("one.yaml", kubeconfigFor("https://one.example:6443", "ca"));
const SECOND_FILE = writeKubeconfig(
  "two.yaml",
  kubeconfigFor("https://two.example:6443", "ca", "there").replace("name: here", "name: there"),
);
const WITHOUT_CURRENT_CONTEXT = writeKubeconfig(
  "unchosen.yaml",
  kubeconfigFor("https://three.example:6443", "ca").replace(/current-context.*/, ""),
);
const HOME = join(folder, "home");
mkdirSync(join(HOME, ".kube"), { recursive: true });
writeFileSync(join(HOME, ".kube", "config"), kubeconfigFor("https://home.example:6443", "ca"));

const EMPTY_ENVIRONMENT: UserEnvironment = { environment: {}, homeFolder: folder };

async function connectToServer(
  kubeconfig: string | undefined,
  context: string | undefined,
  user = EMPTY_ENVIRONMENT,
): Promise<string> {
  const connection = await connectCluster({ kubeconfig, context }, user);
  if (connection.ok) connection.close();
  return connection.ok ? connection.server : connection.message;
}

describe("the command drains connects to the cluster of", () => {
  test("--kubeconfig, else KUBECONFIG, else the file in the home folder", async () => {
    const user = { environment: { KUBECONFIG: SECOND_FILE }, homeFolder: HOME };
    expect(await connectToServer(FIRST_FILE, undefined, user)).toBe("https://one.example:6443");
    expect(await connectToServer(undefined, undefined, user)).toBe("https://two.example:6443");
    expect(await connectToServer(undefined, undefined, { environment: {}, homeFolder: HOME })).toBe(
      "https://home.example:6443",
    );
  });

  test("the first KUBECONFIG file that defines the context", async () => {
    const user = {
      environment: { KUBECONFIG: `${folder}/gone::${WITHOUT_CURRENT_CONTEXT}:${SECOND_FILE}:${FIRST_FILE}` },
      homeFolder: HOME,
    };
    expect(await connectToServer(undefined, undefined, user)).toBe("https://three.example:6443");
    expect(await connectToServer(undefined, "here", user)).toBe("https://three.example:6443");
  });

  test("--context instead of the current context", async () => {
    expect(await connectToServer(WITHOUT_CURRENT_CONTEXT, "here")).toBe("https://three.example:6443");
  });

  test("the service account of the Pod, without a kubeconfig", async () => {
    const { env } = process;
    const earlierEnvironment = { host: env["KUBERNETES_SERVICE_HOST"], port: env["KUBERNETES_SERVICE_PORT"] };
    const environment = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
    Object.assign(env, environment);
    try {
      expect(await connectToServer(undefined, undefined, { environment, homeFolder: folder })).toBe(
        "https://10.0.0.1:443",
      );
    } finally {
      delete env["KUBERNETES_SERVICE_HOST"];
      delete env["KUBERNETES_SERVICE_PORT"];
      if (earlierEnvironment.host !== undefined) env["KUBERNETES_SERVICE_HOST"] = earlierEnvironment.host;
      if (earlierEnvironment.port !== undefined) env["KUBERNETES_SERVICE_PORT"] = earlierEnvironment.port;
    }
  });
});

test.for([
  {
    title: "no kubeconfig is configured and the default file does not exist",
    kubeconfig: undefined,
    context: undefined,
    message: "; set --kubeconfig FILE or KUBECONFIG",
  },
  {
    title: "the kubeconfig does not exist",
    kubeconfig: `${folder}/gone`,
    context: undefined,
    message: "gone: not a readable kubeconfig: ENOENT",
  },
  {
    title: "the kubeconfig is not YAML",
    kubeconfig: writeKubeconfig("odd.yaml", "a: [\n"),
    context: undefined,
    message: "odd.yaml: not a readable kubeconfig",
  },
  {
    title: "the kubeconfig is empty",
    kubeconfig: writeKubeconfig("empty.yaml", ""),
    context: undefined,
    message: "empty.yaml: not a readable kubeconfig",
  },
  {
    title: "the kubeconfig has no current context",
    kubeconfig: WITHOUT_CURRENT_CONTEXT,
    context: undefined,
    message: "current-context is not set; set --context",
  },
  {
    title: "the context is misspelt",
    kubeconfig: FIRST_FILE,
    context: "othr",
    message: 'context "othr" does not exist; did you mean "other"?',
  },
  {
    title: "the context is unknown",
    kubeconfig: FIRST_FILE,
    context: "prod",
    message: 'existing contexts: "here", "other", "nowhere"',
  },
  {
    title: "the context has no cluster",
    kubeconfig: FIRST_FILE,
    context: "nowhere",
    message: 'context "nowhere" has no cluster',
  },
])("the command drains reports a problem and a remedy if $title", async ({ kubeconfig, context, message }) => {
  expect(await connectToServer(kubeconfig, context)).toContain(message);
});

test("the command drains reports a KUBECONFIG whose files do not exist", async () => {
  const user = { environment: { KUBECONFIG: "/gone/a:/gone/b" }, homeFolder: HOME };
  expect(await connectToServer(undefined, undefined, user)).toBe(
    "KUBECONFIG: no such file: /gone/a, /gone/b; correct it or set --kubeconfig FILE",
  );
});
