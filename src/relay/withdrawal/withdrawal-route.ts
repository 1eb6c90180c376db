/** Serves `POST /v1/withdrawal`: streams one line per change of a Pod's withdrawal status. */
import type { Server } from "node:https";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { WITHDRAWAL_PATH, type WithdrawalRequest, type WithdrawalStatusLine } from "../../contract/relay-wire.ts";
import type { BrokenDrain } from "../lost/lost-drain.ts";
import type { LostDrains } from "../lost/lost-drains.ts";
import { addGauge } from "../metrics.ts";
import { addGuardedRoute, type Call, type GuardPorts, REFUSALS } from "../server/guard.ts";
import type { RelayLimits } from "../server/relay-limits.ts";
import type { Clock } from "../slices/clock.ts";
import type { WatchPod } from "../slices/slice-watches.ts";
import { createStreamBoard, type StreamBoard } from "./stream-board.ts";
import { readWithdrawalRequest } from "./withdrawal-request.ts";

type WithdrawalPorts = Omit<GuardPorts, "nowMs"> & {
  readonly watchPod: WatchPod;
  readonly lost: Pick<LostDrains, "opened" | "closed">;
  readonly limits: RelayLimits;
  readonly clock: Clock;
  readonly wallMs: () => number;
};

/** Must be called before the server listens. Open streams end when the server starts to close. */
export function addWithdrawalRoute(app: FastifyInstance<Server>, ports: WithdrawalPorts): void {
  const { limits, clock, registry } = ports;
  addGauge("streams", registry, limits.streams);
  const board = createStreamBoard(clock);
  app.addHook("preClose", (done) => {
    board.endAll();
    done();
  });
  addGuardedRoute(
    app,
    { ...ports, nowMs: clock.nowMs },
    {
      path: WITHDRAWAL_PATH,
      contentType: "application/json",
      metric: "refused",
      answer: (call) => {
        const { claims, body, refuse } = call;
        const read = readWithdrawalRequest(body);
        if (!read.ok) return refuse(REFUSALS.refused.malformed, read.message);
        if (read.request.namespace !== claims.namespace) return refuse(REFUSALS.refused.namespace);
        const refusal = limits.startStream(read.request);
        if (refusal !== undefined) return refuse(REFUSALS.refused[refusal]);
        return streamAnswer(call, read.request, board, ports);
      },
    },
  );
}

function streamAnswer(
  { request, reply, claims }: Call,
  pod: WithdrawalRequest,
  board: StreamBoard,
  { limits, clock, lost, watchPod, wallMs }: WithdrawalPorts,
): FastifyReply {
  const openedAtMs = wallMs();
  let last: WithdrawalStatusLine | undefined;
  let wasEndedHere = false;
  const endedHere = (end: () => void) => () => {
    wasEndedHere = true;
    end();
  };
  const broken = (): BrokenDrain | undefined => {
    if (wasEndedHere || last?.terminating !== true) return undefined;
    const { state, graceSeconds = 0 } = last;
    return { pod, claims, openedAtMs, brokeAtMs: wallMs(), state, graceSeconds };
  };
  reply.hijack();
  const { raw } = reply;
  raw.on("error", () => undefined);
  raw.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store", connection: "close" });
  const hasHeartbeat = wantsHeartbeat(request) && limits.startHeartbeat(pod.namespace);
  const stream = board.open(
    {
      write: (text, written) => raw.write(text, (error) => (error ? undefined : written(clock.nowMs()))),
      end: endedHere(() => raw.end()),
      cut: endedHere(() => request.raw.socket.destroy()),
    },
    hasHeartbeat,
  );
  lost.opened(pod);
  const leave = watchPod(pod, (line) => {
    last = line;
    stream.send(`${JSON.stringify(line)}\n`);
  });
  const close = (): void => {
    leave();
    stream.closed();
    if (hasHeartbeat) limits.endHeartbeat(pod.namespace);
    limits.endStream(pod);
    lost.closed(pod, broken());
  };
  if (raw.destroyed) close();
  else raw.once("close", close);
  return reply;
}

function wantsHeartbeat({ query }: FastifyRequest): boolean {
  return typeof query === "object" && query !== null && "heartbeat" in query;
}
