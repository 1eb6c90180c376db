/** The CA of the replicas changes while Pods are made and the configuration fails closed. */
import type { V1MutatingWebhookConfiguration, V1Secret } from "@kubernetes/client-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { install, OPT_IN, RELEASE_NAMESPACE } from "../client/installation.ts";
import { kubectlOf } from "../client/kubectl.ts";
import { readSuite } from "../client/suite.ts";
import { pauseMs, waitUntil } from "../host/wait.ts";

const ROTATIONS = 20;
/** Between the creations of one of the two creators. */
const PACE_MS = 40;
const CREATORS = 2;

const suite = readSuite(process.env);
const kubectl = kubectlOf(suite);
const inRelease = ["--namespace", RELEASE_NAMESPACE];
const secret = [...inRelease, "secret", "lastcall-ca"];

beforeAll(async () => {
  await install(suite, { failurePolicy: "Fail" });
  // A minute per rotation would be twenty minutes; API servers learn of a new bundle within a second.
  await kubectl.run([...inRelease, "set", "env", "deployment/lastcall-webhook", "LASTCALL_CA_SETTLE=3s"]);
  await kubectl.run([...inRelease, "rollout", "status", "deployment/lastcall-webhook", "--timeout=180s"]);
}, 400_000);
// The chart does not know the variable, so no later install takes it away.
afterAll(async () => {
  await kubectl.run([...inRelease, "set", "env", "deployment/lastcall-webhook", "LASTCALL_CA_SETTLE-"]);
  await install(suite);
}, 400_000);

test("20 changes of the CA fail no creation", { timeout: 900_000 }, async () => {
  await inNamespace(suite, "certificates", { labels: OPT_IN }, async (namespace) => {
    const creators = await startCreators(namespace);
    for (let rotation = 0; rotation < ROTATIONS; rotation += 1) {
      const old = await signer();
      await kubectl.run(["delete", ...secret]);
      const wait = { withinMs: 60_000, what: "a new CA signs" };
      await waitUntil(wait, async () => ([old, ""].includes(await signer()) ? undefined : true));
      namespace.note(`rotation ${rotation + 1}`);
    }
    const { created, failures } = await creators.stop();
    expect(failures).toEqual([]);
    expect(created).toBeGreaterThan(ROTATIONS * 50);
  });
});

test("emptied caBundles are filled again", { timeout: 120_000 }, async () => {
  const name = "drain.lastcall.dev";
  const before = await bundlesOf(name);
  const operations = before.map((_, index) => ({ op: "remove", path: `/webhooks/${index}/clientConfig/caBundle` }));
  const patch = `--patch=${JSON.stringify(operations)}`;
  await kubectl.run(["patch", "mutatingwebhookconfiguration", name, "--type=json", patch]);
  await waitUntil({ withinMs: 30_000, what: "the caBundles are back" }, async () => {
    const bundles = await bundlesOf(name);
    return before.every((bundle, index) => bundle === bundles[index]) ? true : undefined;
  });
});

async function signer(): Promise<string> {
  const { status, output } = await kubectl.attempt(["get", ...secret, "--output=json"]);
  if (status !== 0) return "";
  const found: V1Secret = JSON.parse(output);
  return found.data?.["ca.crt"] ?? "";
}

async function bundlesOf(name: string): Promise<readonly string[]> {
  const found = await kubectl.json<V1MutatingWebhookConfiguration>(["get", "mutatingwebhookconfiguration", name]);
  return (found.webhooks ?? []).map((webhook) => webhook.clientConfig.caBundle ?? "");
}

type Creators = { readonly stop: () => Promise<{ created: number; failures: readonly string[] }> };

/** Creations as dry runs: everything of an admission, and no Pod. They go through a proxy because kubectl starts slowly. */
async function startCreators(namespace: CaseNamespace): Promise<Creators> {
  let address = "";
  const proxy = kubectl.follow(["proxy", "--port=0"], (line) => {
    address = /127\.0\.0\.1:[0-9]+/.exec(line)?.[0] ?? address;
  });
  await waitUntil({ withinMs: 30_000, what: "kubectl proxy serves" }, () => (address === "" ? undefined : true));
  const url = `http://${address}/api/v1/namespaces/${namespace.name}/pods?dryRun=All`;
  const pod = { metadata: { name: "probe" }, spec: { containers: [{ name: "app", image: "registry.example/app" }] } };
  const failures: string[] = [];
  let created = 0;
  let isOver = false;
  const create = async (): Promise<void> => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(pod) });
    const text = await answer.text();
    if (answer.status !== 201) failures.push(`${answer.status} ${text.slice(0, 300)}`);
    else if (!text.includes('"name":"lastcall"')) failures.push("not injected");
    created += 1;
  };
  const creators = Array.from({ length: CREATORS }, async () => {
    while (!isOver) await Promise.all([create(), pauseMs(PACE_MS)]);
  });
  const stop = async () => {
    isOver = true;
    await Promise.all(creators);
    proxy.kill();
    return { created, failures };
  };
  return { stop };
}
