/** Process 1 of the namespaces of the HTTP/2 cases: a Pod for each server and client, ended while one client stays. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { createPodRunner, type PodRunner } from "../../../src/demo/pods/pod-runner.ts";
import { endOf } from "../../../src/demo/report/pod-end.ts";
import { admitPod } from "../../../src/demo/rollout/admission-client.ts";
import { namedPod, podOf, servicePort } from "../../../src/demo/rollout/deployment.ts";
import { answerInside, type Surroundings } from "../harness/answer-inside.ts";
import { factsOf, type PodEndFacts } from "../harness/pod-end-facts.ts";
import { UPSTREAM } from "../harness/roll-request.ts";
import { type Http2Request, type Http2Result, QUESTIONS, type Questions } from "./http2-request.ts";

const LARGE_BYTES = 1 << 20;
/** The client has been silent for longer than the quiet period when the Pod is deleted. */
const SILENCE_MS = 3_000;
/** Between two questions: what both sides say at the beginning is over. */
const PAUSE_MS = 500;
const READY_LIMIT_MS = 60_000;

await answerInside(
  async ({ deployments }: Http2Request, surroundings): Promise<Http2Result> => {
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
  },
  () => "shop",
);

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
  const { pod: admitted } = await admitPod(podOf(deployment, "5d9c7b"), servers.webhook);
  const uid = randomUUID();
  const pod = await runner.start(namedPod(admitted, uid.slice(0, 5), uid));
  const limitMs = clock.nowMs() + READY_LIMIT_MS;
  while (!pod.isReady()) {
    if (clock.nowMs() > limitMs) throw new Error(`${pod.plan.name} was not ready within ${READY_LIMIT_MS / 1_000} s`);
    await clock.wait(25);
  }
  const place = { host: pod.address, port: servicePort(deployment), localAddress: network.trafficAddress };
  const session = await asked(place, QUESTIONS[questions], clock);
  await clock.wait(SILENCE_MS);
  await pod.remove();
  session.destroy();
  return factsOf(endOf(pod, { forwarded: [], propagationMs: 0, slicesWithdrawnMs: undefined }));
}

/** A session that has read whole answers to all of them. */
type Place = { readonly host: string; readonly port: number; readonly localAddress: string };

async function asked(
  place: Place,
  paths: readonly string[],
  clock: Surroundings["clock"],
): Promise<ClientHttp2Session> {
  // Not from the node's own address, which would be the kubelet's.
  const createConnection = () => connect(place);
  const session = connectHttp2(`http://${place.host}:${place.port}`, { createConnection });
  session.on("error", () => undefined);
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
  return session;
}
