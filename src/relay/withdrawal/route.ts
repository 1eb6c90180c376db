/** `POST /v1/withdrawal`: who asks, what about, and then a line for every change. */
import type { Server } from "node:https";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Registry } from "prom-client";
import {
  type CredentialClaims,
  RELAY_BODY_LIMIT_BYTES,
  WITHDRAWAL_PATH,
  type WithdrawalLine,
  type WithdrawalQuestion,
} from "../../contract/relay-wire.ts";
import type { CheckCredential } from "../credential-check.ts";
import type { RelayLimits } from "../limits/relay-limits.ts";
import type { BrokenDrain } from "../lost/lost-drain.ts";
import type { LostDrains } from "../lost/lost-drains.ts";
import type { Clock } from "../slices/clock.ts";
import type { WatchPod } from "../slices/slice-watches.ts";
import { readQuestion } from "./question.ts";
import { REFUSALS, type RefusalReason } from "./refusal.ts";
import { createStreamBoard } from "./stream-board.ts";
import { withdrawalMeters } from "./withdrawal-meters.ts";

type WithdrawalPorts = {
  readonly checkCredential: CheckCredential;
  readonly watchPod: WatchPod;
  readonly lost: Pick<LostDrains, "opened" | "closed">;
  /** Shared with the other routes of the relay. */
  readonly limits: RelayLimits;
  readonly clock: Clock;
  /** Wall clock, milliseconds. */
  readonly wallMs: () => number;
  readonly registry: Registry;
};

type Asked = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly question: WithdrawalQuestion;
  readonly speaker: CredentialClaims;
};

/** To be called before the server listens. Open streams end when the server begins to close. */
export function addWithdrawalRoute(app: FastifyInstance<Server>, ports: WithdrawalPorts): void {
  const { limits, clock } = ports;
  const meters = withdrawalMeters(ports.registry, limits.streams);
  const board = createStreamBoard(clock);
  const claims = new WeakMap<FastifyRequest, CredentialClaims>();

  const refuse = (reply: FastifyReply, reason: RefusalReason, message: string = REFUSALS[reason].message): void => {
    meters.countRefusal(reason);
    const { status } = REFUSALS[reason];
    reply.code(status).header("content-type", "text/plain; charset=utf-8");
    // The rest of the request is not waited for.
    reply.header("connection", "close");
    if (status === 401) reply.header("www-authenticate", "Lastcall");
    if (status === 429) reply.header("retry-after", "1");
    reply.send(`${message}\n`);
  };

  const answer = ({ request, reply, question, speaker }: Asked): void => {
    const refusal = limits.beginStream(question);
    if (refusal !== undefined) {
      refuse(reply, refusal);
      return;
    }
    const openedAtMs = ports.wallMs();
    let last: WithdrawalLine | undefined;
    let wasEndedHere = false;
    const endedHere = (end: () => void) => () => {
      wasEndedHere = true;
      end();
    };
    /** `undefined` where the stream did not break in the middle of a drain. */
    const broken = (): BrokenDrain | undefined => {
      if (wasEndedHere || last?.terminating !== true) return undefined;
      const { state, graceSeconds = 0 } = last;
      return { pod: question, claims: speaker, openedAtMs, brokeAtMs: ports.wallMs(), state, graceSeconds };
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
    ports.lost.opened(question);
    const leave = ports.watchPod(question, (line) => {
      last = line;
      stream.say(`${JSON.stringify(line)}\n`);
    });
    const close = (): void => {
      leave();
      stream.closed();
      if (pulses) limits.endPulse(question.namespace);
      limits.endStream(question);
      ports.lost.closed(question, broken());
    };
    if (raw.destroyed) close();
    else raw.once("close", close);
  };

  app.addHook("preClose", (done) => {
    board.endAll();
    done();
  });
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => done(null, body));
    scope.post<{ Body: string | undefined }>(
      WITHDRAWAL_PATH,
      {
        bodyLimit: RELAY_BODY_LIMIT_BYTES,
        // Before the body is read: no body is, without a credential.
        onRequest: (request, reply, done) => {
          const speaker = ports.checkCredential(request.headers.authorization);
          if (speaker === undefined) return refuse(reply, "credential");
          if (!limits.mayAsk(speaker.namespace, clock.nowMs())) return refuse(reply, "requests");
          claims.set(request, speaker);
          done();
        },
        errorHandler: (error, _request, reply) => {
          const reason = REASONS[error.code];
          // Not theirs but ours: the server's own way of answering.
          if (reason === undefined) throw error;
          refuse(reply, reason);
        },
      },
      async (request, reply) => {
        const read = readQuestion(request.body ?? "");
        const speaker = claims.get(request);
        if (!read.ok) refuse(reply, "malformed", read.message);
        else if (speaker === undefined || read.question.namespace !== speaker.namespace)
          refuse(reply, "foreign_namespace");
        else answer({ request, reply, question: read.question, speaker });
        return reply;
      },
    );
  });
}

/** What the framework itself refuses. */
const REASONS: Readonly<Record<string, RefusalReason>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "content_type",
  FST_ERR_CTP_BODY_TOO_LARGE: "too_large",
  FST_ERR_CTP_EMPTY_JSON_BODY: "malformed",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "malformed",
};

function wantsPulse(request: FastifyRequest): boolean {
  const { query } = request;
  return typeof query === "object" && query !== null && "pulse" in query;
}
