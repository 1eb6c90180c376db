/**
 * Hooks and probes as the kubelet performs them.
 *
 * A preStop httpGet has no time limit, and its status is never looked at: only a broken or refused connection is a
 * failure. Probes are the opposite on both counts.
 */
import { Agent as HttpAgent, get as httpGet } from "node:http";
import { Agent as HttpsAgent, get as httpsGet } from "node:https";
import { connect } from "node:net";
import type { Clock } from "../clock.ts";
import { waitAtMost } from "../clock.ts";
import type { Handler, ProbePlan } from "./pod-plan.ts";

export type HandlerPorts = {
  readonly clock: Clock;
  readonly podAddress: string;
  readonly kubeletAddress: string;
  /** Runs a command in the container; resolves with its exit status. */
  readonly exec: (command: readonly string[]) => Promise<number>;
  /** Aborted when the Pod is gone, so that nothing is left hanging. */
  readonly podGone: AbortSignal;
};

/** The kubelet reads this much of an answer before a hook counts as done. */
const BODY_LIMIT_BYTES = 10 * 1024;

/** Rejects with one sentence when the hook fails. */
export async function runHook(handler: Handler, ports: HandlerPorts): Promise<void> {
  if (handler.kind === "sleep") return ports.clock.wait(handler.seconds * 1_000, ports.podGone);
  if (handler.kind === "tcpSocket") throw new Error("preStop tcpSocket is not supported by the kubelet");
  if (handler.kind === "exec") {
    const status = await ports.exec(handler.command);
    if (status !== 0) throw new Error(`${handler.command.join(" ")} ended with status ${status}`);
    return;
  }
  await fetchStatus(handler, "kube-lifecycle/1.36", ports, ports.podGone);
}

/** One attempt of a probe. */
export async function probe(plan: ProbePlan, ports: HandlerPorts): Promise<boolean> {
  const stop = new AbortController();
  let healthy = false;
  const attempt = probeOnce(plan.handler, ports, stop.signal).then((result) => {
    healthy = result;
  });
  const end = await waitAtMost(ports.clock, plan.timeoutMs, attempt);
  stop.abort();
  return end === "done" && healthy;
}

async function probeOnce(handler: Handler, ports: HandlerPorts, stop: AbortSignal): Promise<boolean> {
  if (handler.kind === "exec") return (await ports.exec(handler.command)) === 0;
  if (handler.kind === "tcpSocket") return opens(handler.port, ports, stop);
  if (handler.kind !== "httpGet") return false;
  const status = await fetchStatus(handler, "kube-probe/1.36", ports, stop);
  return status >= 200 && status < 400;
}

function fetchStatus(
  handler: Extract<Handler, { kind: "httpGet" }>,
  userAgent: string,
  ports: HandlerPorts,
  stop: AbortSignal,
): Promise<number> {
  const options = {
    host: handler.host ?? ports.podAddress,
    port: handler.port,
    path: handler.path,
    headers: { "User-Agent": userAgent, ...handler.headers },
    ...(handler.host === undefined ? { localAddress: ports.kubeletAddress } : {}),
    signal: stop,
  };
  return new Promise((resolve, reject) => {
    const onAnswer = (answer: import("node:http").IncomingMessage) => {
      let bytes = 0;
      const done = () => resolve(answer.statusCode ?? 0);
      answer.on("data", (chunk: Uint8Array) => {
        bytes += chunk.length;
        if (bytes >= BODY_LIMIT_BYTES) {
          done();
          answer.destroy();
        }
      });
      answer.once("end", done);
      answer.once("error", reject);
      answer.once("close", () => reject(new Error("the connection ended within the answer")));
    };
    // One connection each, closed by whoever is done first.
    const request = handler.secure
      ? httpsGet({ ...options, agent: new HttpsAgent({ rejectUnauthorized: false }) }, onAnswer)
      : httpGet({ ...options, agent: new HttpAgent() }, onAnswer);
    request.once("error", reject);
  });
}

function opens(port: number, ports: HandlerPorts, stop: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: ports.podAddress, port, localAddress: ports.kubeletAddress });
    const over = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => over(true));
    socket.once("error", () => over(false));
    stop.addEventListener("abort", () => over(false));
  });
}
