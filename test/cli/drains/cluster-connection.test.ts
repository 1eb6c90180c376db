/** Where the command line finds a cluster, and what it says when it finds none. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { connectCluster, type Surroundings } from "../../../src/cli/cluster-connection.ts";
import { kubeconfigFor } from "./fake-cluster.ts";

const folder = mkdtempSync(join(tmpdir(), "lastcall-kubeconfig-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const ONE = file("one.yaml", kubeconfigFor("https://one.example:6443", "ca"));
const TWO = file(
  "two.yaml",
  kubeconfigFor("https://two.example:6443", "ca", "there").replace("name: here", "name: there"),
);
const UNCHOSEN = file(
  "unchosen.yaml",
  kubeconfigFor("https://three.example:6443", "ca").replace(/current-context.*/, ""),
);
const HOME = join(folder, "home");
mkdirSync(join(HOME, ".kube"), { recursive: true });
writeFileSync(join(HOME, ".kube", "config"), kubeconfigFor("https://home.example:6443", "ca"));

const EMPTY: Surroundings = { environment: {}, homeFolder: folder };

async function reached(kubeconfig: string | undefined, context: string | undefined, where = EMPTY): Promise<string> {
  const connected = await connectCluster({ kubeconfig, context }, where);
  if (connected.ok) connected.close();
  return connected.ok ? connected.server : connected.message;
}

describe("the cluster is that of", () => {
  test("--kubeconfig, before KUBECONFIG, before the home folder", async () => {
    const where = { environment: { KUBECONFIG: TWO }, homeFolder: HOME };
    expect(await reached(ONE, undefined, where)).toBe("https://one.example:6443");
    expect(await reached(undefined, undefined, where)).toBe("https://two.example:6443");
    expect(await reached(undefined, undefined, { environment: {}, homeFolder: HOME })).toBe(
      "https://home.example:6443",
    );
  });

  test("the first of several files that names it, and files that are not there do not count", async () => {
    const where = { environment: { KUBECONFIG: `${folder}/gone::${UNCHOSEN}:${TWO}:${ONE}` }, homeFolder: HOME };
    expect(await reached(undefined, undefined, where)).toBe("https://three.example:6443");
    expect(await reached(undefined, "here", where)).toBe("https://three.example:6443");
  });

  test("--context, whatever is current", async () => {
    expect(await reached(UNCHOSEN, "here")).toBe("https://three.example:6443");
  });

  test("the Pod it runs in, where there is no file", async () => {
    const { env } = process;
    const before = { host: env["KUBERNETES_SERVICE_HOST"], port: env["KUBERNETES_SERVICE_PORT"] };
    const environment = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
    Object.assign(env, environment);
    try {
      expect(await reached(undefined, undefined, { environment, homeFolder: folder })).toBe("https://10.0.0.1:443");
    } finally {
      delete env["KUBERNETES_SERVICE_HOST"];
      delete env["KUBERNETES_SERVICE_PORT"];
      if (before.host !== undefined) env["KUBERNETES_SERVICE_HOST"] = before.host;
      if (before.port !== undefined) env["KUBERNETES_SERVICE_PORT"] = before.port;
    }
  });
});

test.for([
  {
    says: "no file is named or there",
    kubeconfig: undefined,
    context: undefined,
    tells: "give --kubeconfig FILE or set KUBECONFIG (there is no ",
  },
  {
    says: "the file is not there",
    kubeconfig: `${folder}/gone`,
    context: undefined,
    tells: "gone is no kubeconfig that can be read: ENOENT",
  },
  {
    says: "the file is no YAML",
    kubeconfig: file("odd.yaml", "a: [\n"),
    context: undefined,
    tells: "odd.yaml is no kubeconfig",
  },
  {
    says: "the file is empty",
    kubeconfig: file("empty.yaml", ""),
    context: undefined,
    tells: "empty.yaml is no kubeconfig",
  },
  {
    says: "no context is chosen",
    kubeconfig: UNCHOSEN,
    context: undefined,
    tells: "no current-context is set; give --context",
  },
  {
    says: "the context has a slip",
    kubeconfig: ONE,
    context: "strnger",
    tells: 'there is no context "strnger"; did you mean "stranger"?',
  },
  { says: "the context is unknown", kubeconfig: ONE, context: "prod", tells: 'it has "here", "stranger", "nowhere"' },
  {
    says: "the context leads nowhere",
    kubeconfig: ONE,
    context: "nowhere",
    tells: 'its context "nowhere" leads to no cluster',
  },
])("a sentence tells what is wrong when $says", async ({ kubeconfig, context, tells }) => {
  expect(await reached(kubeconfig, context)).toContain(tells);
});

test("a list of files none of which is there is refused", async () => {
  const where = { environment: { KUBECONFIG: "/gone/a:/gone/b" }, homeFolder: HOME };
  expect(await reached(undefined, undefined, where)).toBe(
    "KUBECONFIG names /gone/a and /gone/b, and there is no such file",
  );
});
