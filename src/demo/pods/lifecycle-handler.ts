/**
 * Runs hooks and probes as the kubelet does.
 *
 * A preStop httpGet does not have a timeout, and succeeds with any status; it fails only if the connection is refused or broken.
 * Probes have a timeout, and need a status from 200 to 399.
 */
import { Agent as HttpAgent, get as httpGet, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, get as httpsGet } from "node:https";
import { type Clock, waitAtMost } from "../clock.ts";
import { accepts } from "../network/sockets.ts";
import type { ContainerRun } from "./container-run.ts";
import type { Handler, ProbePlan } from "./pod-plan.ts";

export type HandlerActions = {
  readonly clock: Clock;
  readonly podIp: string;
  readonly kubeletAddress: string;
  readonly exec: (command: readonly string[]) => Promise<number>;
  readonly podGoneSignal: AbortSignal;
};

type HttpGetOptions = { readonly userAgent: string; readonly keepAlive: boolean; readonly stop: AbortSignal };

/** The kubelet reads at most this part of a response body. */
const BODY_LIMIT_BYTES = 10 * 1024;

/** @throws Error when the hook fails */
export async function runHook(handler: Handler, ports: HandlerActions): Promise<void> {
  if (handler.kind === "sleep") return ports.clock.wait(handler.seconds * 1_000, ports.podGoneSignal);
  if (handler.kind === "tcpSocket") throw new Error("the kubelet does not support tcpSocket as a preStop hook");
  if (handler.kind === "exec") {
    const status = await ports.exec(handler.command);
    if (status !== 0) throw new Error(`${handler.command.join(" ")} exited with status ${status}`);
    return;
  }
  // The kubelet keeps a hook's connection open after the response, but not a probe's.
  await fetchStatus(handler, { userAgent: "kube-lifecycle/1.37", keepAlive: true, stop: ports.podGoneSignal }, ports);
}

async function probe(plan: ProbePlan, ports: HandlerActions): Promise<boolean> {
  const stop = new AbortController();
  let isHealthy = false;
  const attempt = probeOnce(plan.handler, ports, stop.signal).then((result) => {
    isHealthy = result;
  });
  const end = await waitAtMost(ports.clock, plan.timeoutMs, attempt);
  stop.abort();
  return end === "done" && isHealthy;
}

async function probeOnce(handler: Handler, ports: HandlerActions, stop: AbortSignal): Promise<boolean> {
  if (handler.kind === "exec") return (await ports.exec(handler.command)) === 0;
  if (handler.kind === "tcpSocket")
    return accepts({ host: ports.podIp, port: handler.port, localAddress: ports.kubeletAddress }, stop);
  if (handler.kind !== "httpGet") return false;
  const status = await fetchStatus(handler, { userAgent: "kube-probe/1.37", keepAlive: false, stop }, ports);
  return status >= 200 && status < 400;
}

function fetchStatus(
  handler: Extract<Handler, { kind: "httpGet" }>,
  { userAgent, keepAlive, stop }: HttpGetOptions,
  ports: HandlerActions,
): Promise<number> {
  const agent = handler.secure
    ? new HttpsAgent({ keepAlive, rejectUnauthorized: false })
    : new HttpAgent({ keepAlive });
  if (keepAlive) stop.addEventListener("abort", () => agent.destroy(), { once: true });
  const options = {
    host: handler.host ?? ports.podIp,
    port: handler.port,
    path: handler.path,
    headers: { "User-Agent": userAgent, ...handler.headers },
    ...(handler.host === undefined ? { localAddress: ports.kubeletAddress } : {}),
    signal: stop,
    agent,
  };
  return new Promise((resolve, reject) => {
    const onResponse = (response: IncomingMessage) => {
      let byteCount = 0;
      const resolveStatus = () => resolve(response.statusCode ?? 0);
      response.on("data", (chunk: Uint8Array) => {
        byteCount += chunk.length;
        if (byteCount < BODY_LIMIT_BYTES) return;
        resolveStatus();
        response.destroy();
      });
      response.once("end", resolveStatus);
      response.once("error", reject);
      response.once("close", () => reject(new Error("the connection was closed before the response was complete")));
    };
    const request = handler.secure ? httpsGet(options, onResponse) : httpGet(options, onResponse);
    request.once("error", reject);
  });
}

type Readiness = {
  readonly isReady: () => boolean;
  readonly start: () => void;
  readonly stop: () => void;
};

/**
 * Probes until the Pod is gone, as the kubelet does. A Pod without probes is Ready while its regular containers and
 * sidecars run.
 */
export function watchReadiness(
  containers: readonly ContainerRun[],
  portsOf: (run: ContainerRun) => HandlerActions,
  onChange: (ready: boolean) => void,
): Readiness {
  const isHealthyByContainer = new Map<string, boolean>();
  const stopping = new AbortController();
  let hasStarted = false;
  let wasReady = false;
  let hasBeenReady = false;
  const probedContainers = containers.filter((run) => run.plan.role !== "init");
  const isReady = () =>
    hasStarted && probedContainers.every((run) => run.isRunning() && (isHealthyByContainer.get(run.plan.name) ?? true));
  const update = () => {
    const ready = isReady();
    if (ready !== wasReady) onChange(ready);
    wasReady = ready;
    hasBeenReady ||= ready;
  };
  const watch = async (run: ContainerRun) => {
    const plan = run.plan.readiness;
    if (plan === undefined) return;
    const ports = portsOf(run);
    await ports.clock.wait(plan.initialDelayMs, stopping.signal);
    while (!stopping.signal.aborted) {
      const isHealthy = run.isRunning() && (await probe(plan, ports));
      if (stopping.signal.aborted) return;
      isHealthyByContainer.set(run.plan.name, isHealthy);
      update();
      // Shorter periods until the Pod is Ready speed up the demo. Later the manager would count the additional probes as traffic.
      await ports.clock.wait(isHealthy || hasBeenReady ? plan.periodMs : Math.min(plan.periodMs, 250), stopping.signal);
    }
  };
  return {
    isReady,
    start: () => {
      for (const run of probedContainers)
        if (run.plan.readiness !== undefined) isHealthyByContainer.set(run.plan.name, false);
      hasStarted = true;
      update();
      for (const run of probedContainers) void watch(run);
    },
    stop: () => stopping.abort(),
  };
}
