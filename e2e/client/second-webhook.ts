/**
 * Runs another admission webhook on this host, which only the suite's own cluster reaches. It removes restartPolicy from
 * the manager, like an old webhook whose typed objects do not have this field.
 */
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { V1MutatingWebhookConfiguration, V1Pod } from "@kubernetes/client-node";
import { makeCaPair, makeServerPair } from "../../src/authority/signing.ts";
import { HOST_ADDRESS } from "../cluster/addresses.ts";
import { waitUntil } from "../host/wait.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { dryRunCreate } from "./create-pods.ts";
import { appContainer, barePod } from "./sample-app.ts";

export type SecondWebhook = {
  /** Returns the number of Pods from which the webhook removed the field. */
  readonly strippedCount: () => number;
  readonly close: () => Promise<void>;
};

type Review = { readonly request: { readonly uid: string; readonly object: V1Pod } };

/** Registers the webhook for the Pods of this namespace, after lastcall's. Resolves once the API server calls it. */
export async function startStrippingWebhook(namespace: CaseNamespace): Promise<SecondWebhook> {
  let stripped = 0;
  const validity = { fromMs: Date.now() - 3_600_000, untilMs: Date.now() + 3_600_000 };
  const ca = await makeCaPair("second webhook", validity);
  const { cert, key } = await makeServerPair(ca, { dns: ["second-webhook"], ip: [HOST_ADDRESS] }, validity);
  const server = createServer({ cert, key }, async (request, response) => {
    const review: Review = JSON.parse(await text(request));
    const patch = strippingPatch(review.request.object);
    if (patch.length > 0) stripped += 1;
    const { uid } = review.request;
    const encodedPatch = Buffer.from(JSON.stringify(patch)).toString("base64");
    const admission = { uid, allowed: true, patchType: "JSONPatch", patch: encodedPatch };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: admission }));
  });
  const port = await listen(server);
  const configuration = configurationOf(namespace.name, `https://${HOST_ADDRESS}:${port}/`, ca.cert);
  await namespace.clusterKubectl.run(["create", "--filename=-"], JSON.stringify(configuration));
  const probe = barePod(namespace, "probe", [appContainer(namespace)]);
  await waitUntil({ condition: "the API server calls the second webhook", withinMs: 30_000 }, async () => {
    await dryRunCreate(namespace.kubectl, [probe]);
    return stripped > 0 ? true : undefined;
  });
  stripped = 0;
  return {
    strippedCount: () => stripped,
    close: async () => {
      await namespace.clusterKubectl.run([
        "delete",
        "mutatingwebhookconfiguration",
        configuration.metadata?.name ?? "",
      ]);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function strippingPatch(pod: V1Pod): readonly unknown[] {
  return (pod.spec?.initContainers ?? []).flatMap(({ name, restartPolicy }, at) =>
    name === "lastcall" && restartPolicy !== undefined
      ? [{ op: "remove", path: `/spec/initContainers/${at}/restartPolicy` }]
      : [],
  );
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, HOST_ADDRESS, () => resolve((server.address() as AddressInfo).port));
  });
}

function configurationOf(namespace: string, url: string, caCert: string): V1MutatingWebhookConfiguration {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    // API servers call webhook configurations in the order of their names, so this webhook is called after lastcall's.
    metadata: { name: `strips.${namespace}.example` },
    webhooks: [
      {
        name: "strips.webhook.example",
        admissionReviewVersions: ["v1"],
        clientConfig: { url, caBundle: Buffer.from(caCert).toString("base64") },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        sideEffects: "None",
        failurePolicy: "Fail",
        reinvocationPolicy: "Never",
        timeoutSeconds: 5,
      },
    ],
  };
}
