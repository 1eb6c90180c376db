/** Tests that the webhook accepts reviews only from clients with a certificate of the client CA. */
import type { V1Pod } from "@kubernetes/client-node";
import { afterAll, describe, expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { createPod, isInjected } from "../client/create-pods.ts";
import { install, OPT_IN } from "../client/installation.ts";
import type { Kubectl } from "../client/kubectl.ts";
import { appContainer, barePod } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { listWebhookPods, readSamples, sumOfSamples } from "../client/webhook-metrics.ts";

const suite = readSuite(process.env);
const { webhookClientCa } = suite;
const SKIP_REASON =
  webhookClientCa === undefined ? " (skipped: the CA of this API server's client certificate is unknown)" : "";

afterAll(() => install(suite));

describe.skipIf(webhookClientCa === undefined)(`a webhook that requires a client certificate${SKIP_REASON}`, () => {
  test("injects Pods for the API server, which has the certificate, and refuses and counts other clients", async () => {
    await inNamespace(suite, "client-certificate", { labels: OPT_IN }, async (namespace) => {
      await install(suite, { failurePolicy: "Fail", webhook: { clientCA: webhookClientCa } });
      const { clusterKubectl } = namespace;
      expect(sumOfSamples(await readSamples(clusterKubectl, REFUSED_METRIC, [NO_CERTIFICATE_LABEL]))).toBe(0);
      const { pods } = await createPod(namespace.kubectl, barePod(namespace, "probe", [appContainer(namespace)]));
      expect(pods.map(isInjected)).toEqual([true]);
      const replicas = await listWebhookPods(clusterKubectl);
      for (const replica of replicas)
        expect(await reviewWithoutCertificate(clusterKubectl, replica)).toContain("Forbidden");
      expect(sumOfSamples(await readSamples(clusterKubectl, REFUSED_METRIC, [NO_CERTIFICATE_LABEL]))).toBe(
        replicas.length,
      );
    });
  });
});

const REFUSED_METRIC = "lastcall_requests_refused_total";
const NO_CERTIFICATE_LABEL = 'reason="no_certificate"';

/** Sends a review through the API server's proxy, which has no client certificate. @returns kubectl's output */
async function reviewWithoutCertificate(kubectl: Kubectl, { metadata, spec }: V1Pod): Promise<string> {
  const port = spec?.containers[0]?.ports?.[0]?.containerPort ?? 0;
  const path = `/api/v1/namespaces/${metadata?.namespace}/pods/https:${metadata?.name}:${port}/proxy/mutate`;
  const { status, stderr } = await kubectl.attempt(["create", "--raw", path, "--filename=-"], "{}");
  expect(status).not.toBe(0);
  return stderr;
}
