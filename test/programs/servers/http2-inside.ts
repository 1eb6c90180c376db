/** Process 1 of the namespaces of the HTTP/2 cases: a Pod for each server and client, ended while one client stays. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { ClientHttp2Session } from "node:http2";
import { createPodRunner, type PodRunner } from "../../../src/demo/pods/pod-runner.ts";
import { admitPod } from "../../../src/demo/rollout/admission-client.ts";
import { servicePort } from "../../../src/demo/rollout/deployment.ts";
import { allReady, createPod } from "../../../src/demo/rollout/rollout.ts";
import { answerInside, type Surroundings } from "../harness/answer-inside.ts";
import { openSession } from "../harness/http2-client.ts";
import { factsOfPod, type PodEndFacts } from "../harness/pod-end-facts.ts";
import { UPSTREAM } from "../harness/roll-request.ts";

export type Http2Request = {
  /** By the name of the server, Deployments whose Pods are ended one by one. */
  readonly deployments: Readonly<Record<string, object>>;
};

/** What the client asked for, one after the other and with pauses, before it fell silent and stayed. */
const QUESTIONS = { first: ["/"], later: ["/", "/"], large: ["/", "/large"] } as const;
type Questions = keyof typeof QUESTIONS;

export type Http2Result = {
  readonly manager: "native" | "node";
  readonly ends: Readonly<Record<string, Readonly<Record<Questions, PodEndFacts>>>>;
};

const LARGE_BYTES = 1 << 20;
/** The client has been silent for longer than the quiet period when the Pod is deleted. */
const SILENCE_MS = 3_000;
/** Between two questions: what both sides say at the beginning is over. */
const PAUSE_MS = 500;

await answerInside(async ({ deployments }: Http2Request, surroundings): Promise<Http2Result> => {
  await startUpstream();
  const runner = createPodRunner({ ...surroundings, onEvent: () => {} });
  const ends: Record<string, Record<Questions, PodEndFacts>> = {};
  await Promise.all(
    Object.entries(deployments).map(async ([name, deployment]) => {
      const [first, later, large] = await Promise.all([
        endedWith(deployment, "first", runner, surroundings),
        endedWith(deployment, "later", runner, surroundings),
        endedWith(deployment, "large", runner, surroundings),
      ]);
      ends[name] = { first, later, large };
    }),
  );
  await runner.close();
  return { manager: surroundings.manager, ends };
});

async function startUpstream(): Promise<void> {
  const [host = "", port = ""] = UPSTREAM.split(":");
  const server = createServer((req, res) => res.end(req.url === "/large" ? Buffer.alloc(LARGE_BYTES) : "hello\n"));
  server.listen(Number(port), host);
  await once(server, "listening");
}

async function endedWith(
  deployment: object,
  questions: Questions,
  runner: PodRunner,
  { clock, network, servers }: Surroundings,
): Promise<PodEndFacts> {
  const admit = async (pod: object) => (await admitPod(pod, servers.webhook)).pod;
  const pod = await createPod(deployment, "5d9c7b", { runner, admit });
  await allReady([pod], clock);
  const session = openSession(pod.address, servicePort(deployment), network.trafficAddress);
  await askAll(session, QUESTIONS[questions], clock);
  await clock.wait(SILENCE_MS);
  await pod.remove();
  session.destroy();
  return factsOfPod(pod);
}

/** Resolves when the answers to all of them have been read whole. */
async function askAll(
  session: ClientHttp2Session,
  paths: readonly string[],
  clock: Surroundings["clock"],
): Promise<void> {
  for (const path of paths) {
    const stream = session.request({ ":path": path });
    let status = 0;
    stream.on("response", (headers) => {
      status = Number(headers[":status"]);
    });
    await once(stream.resume(), "end");
    if (status !== 200) throw new Error(`${path} was answered ${status} on HTTP/2`);
    await clock.wait(PAUSE_MS);
  }
}
