/** Tests renewals of the webhook's CA while Pods are created with `failurePolicy: Fail`, and the permissions of its ServiceAccount. */
import { createHash } from "node:crypto";
import type { V1MutatingWebhookConfiguration, V1Secret } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { install, OPT_IN } from "../client/installation.ts";
import { kubectlOf } from "../client/kubectl.ts";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { appContainer, barePod } from "../client/sample-app.ts";
import { createSteadily } from "../client/steady-creations.ts";
import { readSuite } from "../client/suite.ts";
import { readSamples } from "../client/webhook-metrics.ts";
import { waitUntil } from "../host/wait.ts";

const RENEWALS = 20;
const CREATIONS_PER_SECOND = 50;

const suite = readSuite(process.env);
const kubectl = kubectlOf(suite);
const releaseFlags = ["--namespace", RELEASE_NAMESPACE];
const WEBHOOK_DEPLOYMENT = "deployment/lastcall-webhook";
const CA_SECRET_ARGS = [...releaseFlags, "secret", "lastcall-ca"];

/** With the defaults of one minute and ten seconds, 20 renewals would take half an hour. API servers receive a caBundle within a second. */
const SHORT_INTERVALS = { LASTCALL_CA_SETTLE: "3s", LASTCALL_CERTIFICATE_CHECK: "1s" };

beforeAll(async () => {
  await install(suite, { failurePolicy: "Fail" });
  await setEnvironment(Object.entries(SHORT_INTERVALS).map(([name, value]) => `${name}=${value}`));
}, 400_000);
// The chart does not manage these variables, so a later upgrade would keep them.
afterAll(async () => {
  await setEnvironment(Object.keys(SHORT_INTERVALS).map((name) => `${name}-`));
  await install(suite);
}, 400_000);

test("the webhook's CA is renewed 20 times, and none of 50 Pod creations a second fails", {
  timeout: 900_000,
}, async () => {
  await inNamespace(suite, "certificates", { labels: OPT_IN }, async (namespace) => {
    const pod = barePod(namespace, "probe", [appContainer(namespace)]);
    const creations = await createSteadily(suite, { perSecond: CREATIONS_PER_SECOND, pod, namespace: namespace.name });
    const signingCas = [await readSigningCa()];
    try {
      for (let renewal = 0; renewal < RENEWALS; renewal += 1)
        signingCas.push(
          await replaceCa(namespace, signingCas[renewal] ?? "", renewal % 2 === 0 ? "the Secret" : "its key"),
        );
    } finally {
      const counts = await creations.stop();
      namespace.saveArtifact("creations.json", JSON.stringify(counts, null, 2));
      expect(counts).toMatchObject({ failed: 0, missed: 0, failures: [] });
      expect(counts.requested).toBeGreaterThan(RENEWALS * CREATIONS_PER_SECOND);
    }
    expect(new Set(signingCas).size).toBe(RENEWALS + 1);
    await waitUntil(
      { condition: "both replicas report a caBundle in sync", withinMs: 60_000, everyMs: 500 },
      async () => ((await readSamples(kubectl, "lastcall_cabundle_in_sync")).join() === "1,1" ? true : undefined),
    );
  });
});

test("the webhook fills the caBundles of its configuration again after they were emptied", {
  timeout: 120_000,
}, async () => {
  const name = "drain.lastcall.dev";
  const bundlesBefore = await readCaBundles(name);
  const operations = bundlesBefore.map((_, index) => ({
    op: "remove",
    path: `/webhooks/${index}/clientConfig/caBundle`,
  }));
  const patch = `--patch=${JSON.stringify(operations)}`;
  await kubectl.run(["patch", "mutatingwebhookconfiguration", name, "--type=json", patch]);
  await waitUntil({ withinMs: 30_000, condition: "the caBundles are filled" }, async () => {
    const bundles = await readCaBundles(name);
    return bundlesBefore.every((bundle, index) => bundle === bundles[index]) ? true : undefined;
  });
});

describe("the webhook's ServiceAccount", () => {
  const account = `system:serviceaccount:${RELEASE_NAMESPACE}:lastcall-webhook`;
  const configuration = "mutatingwebhookconfiguration/drain.lastcall.dev";
  const entryPath = "/webhooks/0";
  const attemptPatch = (operation: object, as: readonly string[] = [`--as=${account}`]) =>
    kubectl.attempt([
      ...["patch", configuration, "--type=json", `--patch=${JSON.stringify([operation])}`, "--dry-run=server"],
      ...as,
    ]);

  test("is allowed to fill, change and empty caBundles", async () => {
    const path = `${entryPath}/clientConfig/caBundle`;
    const bundle = Buffer.from((await readCaBundles("drain.lastcall.dev"))[0] ?? "", "base64").toString();
    const value = Buffer.from(`${bundle}\n${bundle}`).toString("base64");
    expect(await attemptPatch({ op: "replace", path, value })).toMatchObject({ status: 0 });
    expect(await attemptPatch({ op: "remove", path })).toMatchObject({ status: 0 });
  });

  test.for([
    { op: "add", path: `${entryPath}/rules/0/resources/-`, value: "secrets" },
    { op: "add", path: `${entryPath}/rules/0/operations/-`, value: "UPDATE" },
    { op: "replace", path: `${entryPath}/rules/0/apiGroups/0`, value: "*" },
    { op: "replace", path: `${entryPath}/rules/0/scope`, value: "*" },
    { op: "remove", path: `${entryPath}/rules` },
    { op: "replace", path: `${entryPath}/namespaceSelector`, value: {} },
    { op: "remove", path: `${entryPath}/namespaceSelector` },
    { op: "replace", path: "/webhooks/1/objectSelector", value: {} },
    { op: "replace", path: `${entryPath}/matchConditions`, value: [] },
    { op: "remove", path: `${entryPath}/matchConditions/0` },
    { op: "replace", path: `${entryPath}/failurePolicy`, value: "Fail" },
    { op: "replace", path: `${entryPath}/matchPolicy`, value: "Exact" },
    { op: "replace", path: `${entryPath}/sideEffects`, value: "None" },
    { op: "replace", path: `${entryPath}/timeoutSeconds`, value: 30 },
    { op: "replace", path: `${entryPath}/reinvocationPolicy`, value: "Never" },
    { op: "add", path: `${entryPath}/admissionReviewVersions/-`, value: "v1beta1" },
    { op: "replace", path: `${entryPath}/clientConfig`, value: { url: "https://elsewhere.example/mutate" } },
    { op: "replace", path: `${entryPath}/clientConfig/service/namespace`, value: "default" },
    { op: "replace", path: `${entryPath}/clientConfig/service/name`, value: "other" },
    { op: "replace", path: `${entryPath}/clientConfig/service/path`, value: "/" },
    { op: "replace", path: `${entryPath}/clientConfig/service/port`, value: 8443 },
    { op: "replace", path: `${entryPath}/name`, value: "other.drain.lastcall.dev" },
    { op: "remove", path: entryPath },
    { op: "remove", path: "/webhooks" },
    { op: "copy", from: entryPath, path: "/webhooks/-" },
    { op: "move", from: entryPath, path: "/webhooks/1" },
    { op: "add", path: "/metadata/labels/other", value: "label" },
    { op: "remove", path: "/metadata/labels/app.kubernetes.io~1name" },
    { op: "add", path: "/metadata/annotations/other", value: "annotation" },
    { op: "add", path: "/metadata/finalizers", value: ["example.com/stays"] },
    {
      op: "add",
      path: "/metadata/ownerReferences",
      value: [{ apiVersion: "v1", kind: "Namespace", name: "default", uid: "1" }],
    },
  ])("is not allowed to $op $path", async (operation) => {
    const { status, stderr } = await attemptPatch(operation);
    expect(status).not.toBe(0);
    // The API server itself refuses a copied entry, because the names of a configuration's webhooks are unique.
    expect(stderr).toContain(
      operation.op === "copy"
        ? ""
        : "the webhook's service account may change only the caBundles of this configuration",
    );
  });

  test("is the only account that lastcall's ValidatingAdmissionPolicy restricts", async () => {
    const operation = { op: "replace", path: `${entryPath}/timeoutSeconds`, value: 30 };
    expect(await attemptPatch(operation, [])).toMatchObject({ status: 0 });
  });

  test.for([
    "validatingadmissionpolicies/configuration.lastcall.dev",
    "validatingadmissionpolicybindings/configuration.lastcall.dev",
    "clusterroles/lastcall-webhook",
    "clusterrolebindings/lastcall-webhook",
    "mutatingwebhookconfigurations/others",
  ])("is not allowed to change %s", async (object) => {
    for (const verb of ["patch", "update", "delete"])
      expect((await kubectl.attempt(["auth", "can-i", verb, object, `--as=${account}`])).output.trim()).toBe("no");
  });

  test("is not allowed to delete or create webhook configurations", async () => {
    for (const verb of ["update", "delete", "create", "deletecollection"])
      expect((await kubectl.attempt(["auth", "can-i", verb, configuration, `--as=${account}`])).output.trim()).toBe(
        "no",
      );
  });
});

/** Removes the CA that signs, or only its key. Resolves once another CA signs. */
async function replaceCa(
  namespace: CaseNamespace,
  previousCa: string,
  removedPart: "the Secret" | "its key",
): Promise<string> {
  const removeKey = `--patch=${JSON.stringify([{ op: "remove", path: "/data/ca.key" }])}`;
  await kubectl.run(
    removedPart === "the Secret"
      ? ["delete", ...CA_SECRET_ARGS]
      : ["patch", ...CA_SECRET_ARGS, "--type=json", removeKey],
  );
  const newCa = await waitUntil({ condition: "another CA signs", withinMs: 60_000, everyMs: 200 }, async () => {
    const currentCa = await readSigningCa();
    return currentCa === "" || currentCa === previousCa ? undefined : currentCa;
  });
  namespace.addTimelineLine(`removed ${removedPart}; CA ${newCa} signs`);
  return newCa;
}

/** Returns the first characters of the signing CA certificate's hash; empty if no CA can sign. */
async function readSigningCa(): Promise<string> {
  const { status, output } = await kubectl.attempt(["get", ...CA_SECRET_ARGS, "--output=json"]);
  if (status !== 0) return "";
  const { data }: V1Secret = JSON.parse(output);
  const cert = data?.["ca.crt"];
  if (cert === undefined || data?.["ca.key"] === undefined) return "";
  return createHash("sha256").update(cert).digest("hex").slice(0, 12);
}

async function setEnvironment(changes: readonly string[]): Promise<void> {
  await kubectl.run([...releaseFlags, "set", "env", WEBHOOK_DEPLOYMENT, ...changes]);
  await kubectl.run([...releaseFlags, "rollout", "status", WEBHOOK_DEPLOYMENT, "--timeout=180s"]);
}

async function readCaBundles(name: string): Promise<readonly string[]> {
  const configuration = await kubectl.json<V1MutatingWebhookConfiguration>([
    "get",
    "mutatingwebhookconfiguration",
    name,
  ]);
  return (configuration.webhooks ?? []).map((webhook) => webhook.clientConfig.caBundle ?? "");
}
