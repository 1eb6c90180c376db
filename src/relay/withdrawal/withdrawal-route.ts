/** `POST /v1/withdrawal`: streams one line for every change of a Pod's withdrawal. */
import type { Server } from "node:https";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { WITHDRAWAL_PATH, type WithdrawalLine, type WithdrawalQuestion } from "../../contract/relay-wire.ts";
import type { BrokenDrain } from "../lost/lost-drain.ts";
import type { LostDrains } from "../lost/lost-drains.ts";
import { addGauge } from "../metrics.ts";
import { addGuardedRoute, type Call, type GuardPorts, REFUSALS } from "../server/guard.ts";
import type { RelayLimits } from "../server/relay-limits.ts";
import type { Clock } from "../slices/clock.ts";
import type { WatchPod } from "../slices/slice-watches.ts";
import { readQuestion } from "./question.ts";
import { createStreamBoard, type StreamBoard } from "./stream-board.ts";

type WithdrawalPorts = Omit<GuardPorts, "nowMs"> & {
  readonly watchPod: WatchPod;
  readonly lost: Pick<LostDrains, "opened" | "closed">;
  readonly limits: RelayLimits;
  readonly clock: Clock;
  /** Wall clock, milliseconds. */
  readonly wallMs: () => number;
};

/** To be called before the server listens. Open streams end when the server begins to close. */
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
        const read = readQuestion(body);
        if (!read.ok) return refuse(REFUSALS.refused.malformed, read.message);
        if (read.question.namespace !== claims.namespace) return refuse(REFUSALS.refused.namespace);
        const refusal = limits.beginStream(read.question);
        if (refusal !== undefined) return refuse(REFUSALS.refused[refusal]);
        return streamAnswer(call, read.question, board, ports);
      },
    },
  );
}

function streamAnswer(
  { request, reply, claims }: Call,
  question: WithdrawalQuestion,
  board: StreamBoard,
  { limits, clock, lost, watchPod, wallMs }: WithdrawalPorts,
): FastifyReply {
  const openedAtMs = wallMs();
  let last: WithdrawalLine | undefined;
  let wasEndedHere = false;
  const endedHere = (end: () => void) => () => {
    wasEndedHere = true;
    end();
  };
  /** `undefined` unless the client closed the stream in the middle of a drain. */
  const broken = (): BrokenDrain | undefined => {
    if (wasEndedHere || last?.terminating !== true) return undefined;
    const { state, graceSeconds = 0 } = last;
    return { pod: question, claims, openedAtMs, brokeAtMs: wallMs(), state, graceSeconds };
  };
  reply.hijack();
  const { raw } = reply;
  raw.on("error", () => undefined);
  raw.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store", connection: "close" });
  const pulses = wantsPulse(request) && limits.beginPulse(question.namespace);
  const stream = board.open(
    {
      write: (text, taken) => raw.write(text, (error) => (error ? undefined : taken(clock.nowMs()))),
      end: endedHere(() => raw.end()),
      cut: endedHere(() => request.raw.socket.destroy()),
    },
    pulses,
  );
  lost.opened(question);
  const leave = watchPod(question, (line) => {
    last = line;
    stream.say(`${JSON.stringify(line)}\n`);
  });
  const close = (): void => {
    leave();
    stream.closed();
    if (pulses) limits.endPulse(question.namespace);
    limits.endStream(question);
    lost.closed(question, broken());
  };
  if (raw.destroyed) close();
  else raw.once("close", close);
  return reply;
}

function wantsPulse({ query }: FastifyRequest): boolean {
  return typeof query === "object" && query !== null && "pulse" in query;
}
