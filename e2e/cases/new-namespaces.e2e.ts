/** Tests Pods that are created together with their namespace, while another client sends forged reviews. */
import { Agent, request } from "node:https";
import type { KubernetesListObject, V1Namespace, V1Pod, V1Service, V1ServiceAccount } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { isInjected } from "../client/create-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { kubectlOf } from "../client/kubectl.ts";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { readSuite } from "../client/suite.ts";
import { readSamples, sumOfSamples } from "../client/webhook-metrics.ts";

const suite = readSuite(process.env);
const kubectl = kubectlOf(suite);

const NAMESPACES = 20;
const FORGED_CONNECTIONS = 20;

// On other clusters this host cannot reach the Service's cluster IP.
test.skipIf(suite.context !== undefined)(
  "a Pod is injected by the annotations of a namespace that was created milliseconds before",
  { timeout: 300_000 },
  async () => {
    const names = Array.from({ length: NAMESPACES }, (_, at) => `in-one-breath-${at}`);
    const deleteNamespaces = () =>
      kubectl.run(["delete", "namespace", ...names, "--ignore-not-found", "--timeout=120s"]);
    await deleteNamespaces();
    const forgedReviews = await startForgedReviews();
    try {
      for (const name of names) await kubectl.run(["create", "--filename=-"], JSON.stringify(namespaceWithPod(name)));
      const pods = await Promise.all(
        names.map((name) => kubectl.json<V1Pod>(["--namespace", name, "get", "pod", "first"])),
      );
      const postedCount = await forgedReviews.stop();
      const annotatedPods = pods.filter(
        (pod) => isInjected(pod) && JSON.stringify(pod.spec).includes("--drain-delay=7s"),
      );
      process.stdout.write(
        `${annotatedPods.length} of ${NAMESPACES} first Pods have their namespace's annotations, during ${postedCount} forged reviews\n`,
      );
      expect(annotatedPods).toHaveLength(NAMESPACES);
      expect(postedCount).toBeGreaterThan(NAMESPACES);
      expect(sumOfSamples(await readSamples(kubectl, "lastcall_events_total", ["unknown_namespace"]))).toBeGreaterThan(
        0,
      );
    } finally {
      await forgedReviews.stop();
      await deleteNamespaces();
    }
  },
);

/** The Pod is never scheduled. It has its own ServiceAccount, because the default one is created later than the namespace. */
function namespaceWithPod(name: string): KubernetesListObject<V1Namespace | V1ServiceAccount | V1Pod> {
  const annotations = { "lastcall.dev/drain-delay": "7s" };
  const pod: V1Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "first", namespace: name },
    spec: {
      serviceAccountName: "own",
      schedulingGates: [{ name: "example.com/never" }],
      containers: [{ name: "app", image: "localhost/never-pulled" }],
    },
  };
  return {
    apiVersion: "v1",
    kind: "List",
    items: [
      { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: OPT_IN, annotations } },
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "own", namespace: name } },
      pod,
    ],
  };
}

/** Posts reviews of Pods in invented namespaces, each with a mistake that would cause an Event, until `stop` is called. */
async function startForgedReviews(): Promise<{ readonly stop: () => Promise<number> }> {
  const service = await kubectl.json<V1Service>([
    "--namespace",
    RELEASE_NAMESPACE,
    "get",
    "service",
    "lastcall-webhook",
  ]);
  const agent = new Agent({ keepAlive: true, maxSockets: FORGED_CONNECTIONS, rejectUnauthorized: false });
  let postedCount = 0;
  let isStopped = false;
  const post = (): Promise<void> =>
    new Promise((resolve) => {
      const body = forgedReview(`made-up-${postedCount}`);
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const options = { host: service.spec?.clusterIP, port: 443, path: "/mutate", method: "POST", headers, agent };
      const clientRequest = request(options, (response) => {
        postedCount += 1;
        response.resume().on("close", resolve);
      });
      clientRequest.on("error", () => resolve());
      clientRequest.end(body);
    });
  const postUntilStopped = async (): Promise<void> => {
    while (!isStopped) await post();
  };
  const posts = Promise.all(Array.from({ length: FORGED_CONNECTIONS }, postUntilStopped));
  return {
    stop: async () => {
      isStopped = true;
      await posts;
      agent.destroy();
      return postedCount;
    },
  };
}

function forgedReview(namespace: string): string {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: namespace, controller: true };
  const annotations = { "lastcall.dev/drain-timeout": "30", "lastcall.dev/inject": "enabled" };
  const object = {
    metadata: { name: "forged", annotations, labels: OPT_IN, ownerReferences: [owner] },
    spec: { containers: [{ name: "app", image: "a" }] },
  };
  const reviewRequest = {
    uid: "u",
    namespace,
    operation: "CREATE",
    resource: { group: "", version: "v1", resource: "pods" },
    object,
  };
  return JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: reviewRequest });
}
