/** Serves `POST /v1/withdrawal`: streams one line per change of a Pod's withdrawal status. */
import type { Server } from "node:https";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { WITHDRAWAL_PATH, type WithdrawalRequest, type WithdrawalStatusLine } from "../../contract/relay-wire.ts";
import type { GracefulWorkloads } from "../drains/graceful-workloads.ts";
import type { BrokenDrain } from "../lost/lost-drain.ts";
import type { LostDrains } from "../lost/lost-drains.ts";
import { addGauge } from "../metrics.ts";
import { addGuardedRoute, type GuardedRequest, type GuardPorts, REFUSALS } from "../server/guard.ts";
import type { RelayLimits } from "../server/relay-limits.ts";
import type { Clock } from "../slices/clock.ts";
import type { WatchPod } from "../slices/slice-watches.ts";
import { createStreamSet, type StreamSet } from "./stream-set.ts";
import { readWithdrawalRequest } from "./withdrawal-request.ts";

type WithdrawalPorts = Omit<GuardPorts, "nowMs"> & {
  readonly watchPod: WatchPod;
  readonly lostDrains: Pick<LostDrains, "onStreamOpened" | "onStreamClosed">;
  readonly isGraceful: GracefulWorkloads["isGraceful"];
  readonly limits: RelayLimits;
  readonly clock: Clock;
  readonly wallMs: () => number;
};

/** Must be called before the server listens. Open streams end when the server starts to close. */
export function addWithdrawalRoute(app: FastifyInstance<Server>, ports: WithdrawalPorts): void {
  const { limits, clock, registry } = ports;
  addGauge("streams", registry, limits.streams);
  const streams = createStreamSet(clock);
  app.addHook("preClose", (done) => {
    streams.endAll();
    done();
  });
  addGuardedRoute(
    app,
    { ...ports, nowMs: clock.nowMs },
    {
      path: WITHDRAWAL_PATH,
      contentType: "application/json",
      metric: "refused",
      handle: (call) => {
        const { claims, body, refuse } = call;
        const reading = readWithdrawalRequest(body);
        if (!reading.ok) return refuse(REFUSALS.refused.malformed, reading.message);
        if (reading.request.namespace !== claims.namespace) return refuse(REFUSALS.refused.namespace);
        const refusal = limits.startStream(reading.request);
        if (refusal !== undefined) return refuse(REFUSALS.refused[refusal]);
        return streamStatus(call, reading.request, streams, ports);
      },
    },
  );
}

function streamStatus(
  { request, reply, claims }: GuardedRequest,
  pod: WithdrawalRequest,
  streams: StreamSet,
  { limits, clock, lostDrains, watchPod, isGraceful, wallMs }: WithdrawalPorts,
): FastifyReply {
  const openedAtMs = wallMs();
  let lastLine: WithdrawalStatusLine | undefined;
  let wasEndedByRelay = false;
  const endByRelay = (end: () => void) => () => {
    wasEndedByRelay = true;
    end();
  };
  const createBrokenDrain = (): BrokenDrain | undefined => {
    if (wasEndedByRelay || lastLine?.terminating !== true) return undefined;
    const { state, graceSeconds = 0 } = lastLine;
    return { pod, claims, openedAtMs, brokeAtMs: wallMs(), state, graceSeconds };
  };
  reply.hijack();
  const { raw } = reply;
  raw.on("error", () => undefined);
  raw.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store", connection: "close" });
  const hasHeartbeat = requestsHeartbeat(request) && limits.startHeartbeat(pod.namespace);
  const stream = streams.open(
    {
      write: (text, onWritten) => raw.write(text, (error) => (error ? undefined : onWritten(clock.nowMs()))),
      end: endByRelay(() => raw.end()),
      destroy: endByRelay(() => request.raw.socket.destroy()),
    },
    hasHeartbeat,
  );
  lostDrains.onStreamOpened(pod);
  const provenShutdown: Pick<WithdrawalStatusLine, "shutdown"> = isGraceful(claims) ? { shutdown: "graceful" } : {};
  const stopWatching = watchPod(pod, (line) => {
    lastLine = line;
    stream.send(`${JSON.stringify({ ...line, ...provenShutdown })}\n`);
  });
  const onClose = (): void => {
    stopWatching();
    stream.remove();
    if (hasHeartbeat) limits.endHeartbeat(pod.namespace);
    limits.endStream(pod);
    lostDrains.onStreamClosed(pod, createBrokenDrain());
  };
  if (raw.destroyed) onClose();
  else raw.once("close", onClose);
  return reply;
}

function requestsHeartbeat({ query }: FastifyRequest): boolean {
  return typeof query === "object" && query !== null && "heartbeat" in query;
}
