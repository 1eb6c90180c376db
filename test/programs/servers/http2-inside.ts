/** Runs the HTTP/2 cases as PID 1 of a new PID namespace: deletes a Pod of each server while one client stays connected. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { ClientHttp2Session } from "node:http2";
import { createPodRunner, type PodRunner } from "../../../src/demo/pods/pod-runner.ts";
import { admitPod } from "../../../src/demo/rollout/admission-client.ts";
import { servicePort } from "../../../src/demo/rollout/deployment.ts";
import { createPod, waitForAllReady } from "../../../src/demo/rollout/rollout.ts";
import { openSession } from "../harness/http2-client.ts";
import { type ClusterContext, runClusterScript } from "../harness/namespace-script.ts";
import { collectPodFacts, type PodEndFacts } from "../harness/pod-end-facts.ts";
import { UPSTREAM_ADDRESS } from "../harness/roll-request.ts";

export type Http2Request = {
  readonly deployments: Readonly<Record<string, object>>;
};

const PATHS_BY_PATTERN = { first: ["/"], later: ["/", "/"], large: ["/", "/large"] } as const;
type RequestPattern = keyof typeof PATHS_BY_PATTERN;

export type Http2Result = {
  readonly manager: "native" | "node";
  readonly ends: Readonly<Record<string, Readonly<Record<RequestPattern, PodEndFacts>>>>;
};

const LARGE_BYTES = 1 << 20;
/** Time for which the client is idle before the Pod is deleted; longer than the quiet period. */
const IDLE_MS = 3_000;
/** Pause between two requests, in which both sides exchange their SETTINGS frames. */
const PAUSE_MS = 500;

await runClusterScript(async ({ deployments }: Http2Request, cluster): Promise<Http2Result> => {
  await startUpstream();
  const runner = createPodRunner({ ...cluster, onEvent: () => {} });
  const ends: Record<string, Record<RequestPattern, PodEndFacts>> = {};
  await Promise.all(
    Object.entries(deployments).map(async ([name, deployment]) => {
      const [first, later, large] = await Promise.all([
        endPod(deployment, "first", runner, cluster),
        endPod(deployment, "later", runner, cluster),
        endPod(deployment, "large", runner, cluster),
      ]);
      ends[name] = { first, later, large };
    }),
  );
  await runner.close();
  return { manager: cluster.manager, ends };
});

async function startUpstream(): Promise<void> {
  const [host = "", port = ""] = UPSTREAM_ADDRESS.split(":");
  const server = createServer((req, res) => res.end(req.url === "/large" ? Buffer.alloc(LARGE_BYTES) : "hello\n"));
  server.listen(Number(port), host);
  await once(server, "listening");
}

async function endPod(
  deployment: object,
  pattern: RequestPattern,
  runner: PodRunner,
  { clock, network, servers }: ClusterContext,
): Promise<PodEndFacts> {
  const admit = async (pod: object) => (await admitPod(pod, servers.webhook)).pod;
  const pod = await createPod(deployment, "5d9c7b", { runner, admit });
  await waitForAllReady([pod], clock);
  const session = openSession(pod.address, servicePort(deployment), network.trafficAddress);
  await requestAll(session, PATHS_BY_PATTERN[pattern], clock);
  await clock.wait(IDLE_MS);
  await pod.remove();
  session.destroy();
  return collectPodFacts(pod);
}

async function requestAll(
  session: ClientHttp2Session,
  paths: readonly string[],
  clock: ClusterContext["clock"],
): Promise<void> {
  for (const path of paths) {
    const stream = session.request({ ":path": path });
    let status = 0;
    stream.on("response", (headers) => {
      status = Number(headers[":status"]);
    });
    await once(stream.resume(), "end");
    if (status !== 200) throw new Error(`the response to ${path} has status ${status}, expected 200`);
    await clock.wait(PAUSE_MS);
  }
}
