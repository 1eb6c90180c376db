/** `POST /mutate` and `POST /settings`: from the body to the answer, with the one place that counts and logs. */
import type { Server } from "node:https";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from "fastify";
import { bodyReader, type ReadBody, type RefusedBody } from "../intake/body-reader.ts";
import { bufferStore } from "../intake/buffer-store.ts";
import { hasClientCertificate } from "../intake/client-certificate.ts";
import type { Refuse } from "../intake/refusals.ts";
import { later, watchedShelf } from "../intake/shelf-runner.ts";
import { strangerPace } from "../intake/stranger-pace.ts";
import { sharedTurns } from "../intake/turn-runner.ts";
import type { ConnectionOf } from "../intake/watch-connections.ts";
import type { Log } from "../log.ts";
import type { Meters } from "../metrics.ts";
import {
  type AdmissionPorts,
  type AdmissionRules,
  admit,
  faultVerdict,
  malformedVerdict,
  tooLargeVerdict,
  type Verdict,
} from "./admit.ts";
import { checkSettings } from "./check-settings.ts";
import { logVerdict, sendReview } from "./send-review.ts";

/**
 * Largest body, in bytes. The API server takes requests of 3 MiB and stores objects of about 1.5 MiB; JSON may double
 * an object, and a review can carry it twice. A smaller limit would leave large Pods without injection in silence.
 */
export const BODY_LIMIT_BYTES = 7 * 1024 * 1024;

const DISCARD_LIMIT_BYTES = 64 * 1024 * 1024;

/** What the server itself brings. */
export type IntakePorts = {
  readonly refuse: Refuse;
  readonly connectionOf: ConnectionOf;
  readonly needsCertificate: boolean;
  readonly leaving: () => boolean;
};

export type ReviewPorts = AdmissionPorts &
  IntakePorts & {
    readonly log: Log;
    readonly meters: Meters;
    /** Monotonic milliseconds with fractions. */
    readonly nowMs: () => number;
  };

export function addReviewRoutes(app: FastifyInstance<Server>, rules: AdmissionRules, ports: ReviewPorts): void {
  const finish = (reply: FastifyReply, verdict: Verdict, startMs: number): void => {
    const ms = ports.nowMs() - startMs;
    ports.meters.record(verdict.entry, verdict.problems, ms / 1000);
    logVerdict(ports.log, verdict, ms);
    if (verdict.status === 200) sendReview(reply, verdict.body, ports.leaving());
    else reply.code(verdict.status).header("content-type", "text/plain; charset=utf-8").send(verdict.body);
  };

  /** The rest of the body is not waited for. */
  const turnAway = (reply: FastifyReply, why: TurnedAway): void => {
    const [status, sentence] = TURNED_AWAY[why];
    ports.refuse(why);
    reply.code(status).header("connection", "close").header("content-type", "text/plain; charset=utf-8");
    reply.send(`${sentence}\n`);
  };

  const turns = sharedTurns(ports.nowMs);
  const limits = { keepBytes: BODY_LIMIT_BYTES, discardBytes: DISCARD_LIMIT_BYTES };
  const readBody = bodyReader({
    limits,
    shelf: watchedShelf(ports.nowMs),
    store: bufferStore(),
    pace: strangerPace(),
    isKnown: ({ socket }) => ports.connectionOf(socket)?.isKnown() ?? true,
    nowMs: ports.nowMs,
    later,
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", (request, payload, done) => {
    if (request.is404) done(null, undefined);
    else readBody(payload, (body) => done(null, body));
  });

  const options: Omit<RouteShorthandOptions<Server>, "handler"> = {
    bodyLimit: BODY_LIMIT_BYTES,
    // Before the body, of which nothing is read.
    onRequest: (request, reply, done) => {
      if (ports.needsCertificate && !hasClientCertificate(request.raw.socket)) {
        turnAway(reply, "no_certificate");
        return;
      }
      ports.connectionOf(request.raw.socket)?.asking();
      done();
    },
    // Refusals of the framework, and faults that nothing else caught.
    errorHandler: (error, _request, reply) => {
      const refused = error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE";
      finish(reply, refused ? wrongContentType() : faultVerdict(error), ports.nowMs());
    },
  };

  const answerWith = (answer: AnswerReview) => async (request: FastifyRequest, reply: FastifyReply) => {
    const body = request.body as ReadBody | undefined;
    if (body?.kind === "refused") {
      turnAway(reply, body.why);
      return reply;
    }
    const startMs = ports.nowMs();
    const { socket } = request.raw;
    const connection = ports.connectionOf(socket);
    const bytes = body?.kind === "whole" ? body.bytes : 0;
    await turns.begin(bytes, socket.remoteAddress ?? "");
    if (body?.kind === "whole" && socket.destroyed) {
      // A connection that was closed while its review waited gets no answer.
      body.leave();
      return reply.hijack();
    }
    connection?.answering();
    try {
      const verdict = await verdictOn(body, answer);
      await turns.answer(bytes);
      finish(reply, verdict, startMs);
    } finally {
      connection?.answered(reply.statusCode === 200);
      if (body?.kind === "whole") body.leave();
    }
    return reply;
  };

  const { profiles } = rules.config;
  app.post(
    "/mutate",
    options,
    answerWith((text) => admit(text, rules, ports)),
  );
  app.post(
    "/settings",
    options,
    answerWith(async (text) => checkSettings(text, profiles, ports.reportSettings)),
  );
}

type AnswerReview = (text: string) => Promise<Verdict>;

async function verdictOn(body: AnyBody, answer: AnswerReview): Promise<Verdict> {
  if (body === undefined) return answer("");
  if (body.kind === "whole") return answer(body.text());
  if (body.kind === "too-large") return tooLargeVerdict(BODY_LIMIT_BYTES);
  return malformedVerdict("cut_off", "The connection ended before the body did.");
}

type AnyBody = Exclude<ReadBody, RefusedBody> | undefined;

function wrongContentType(): Verdict {
  const message = "The content type is not application/json, which is what an AdmissionReview is sent as.";
  return malformedVerdict("wrong_content_type", message, 415);
}

type TurnedAway = RefusedBody["why"] | "no_certificate";

const TURNED_AWAY: Readonly<Record<TurnedAway, readonly [status: number, sentence: string]>> = {
  without_length: [411, "The request has no Content-Length, which every API server sends."],
  slow_body: [408, "The body came too slowly."],
  bodies_full: [503, "Too many bodies are being read, and this one had the most time."],
  no_certificate: [403, "Reviews are taken only with a certificate that the client CA of this server has signed."],
};
