/** Serves `POST /mutate` and `POST /settings`; counts and logs every result. */
import type { Server } from "node:https";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from "fastify";
import { type BodyResult, bodyReader, type RefusedBody } from "../intake/body-reader.ts";
import { createBufferPool } from "../intake/buffer-pool.ts";
import { hasClientCertificate } from "../intake/client-certificate.ts";
import type { RecordRefusal } from "../intake/refusals.ts";
import { schedule, timedBodyBudget } from "../intake/timed-body-budget.ts";
import type { ConnectionOf } from "../intake/track-connections.ts";
import { createTurns } from "../intake/turn-runner.ts";
import { unknownClientPace } from "../intake/unknown-client-pace.ts";
import type { Log } from "../log.ts";
import type { WebhookMetrics } from "../metrics.ts";
import {
  type AdmissionPorts,
  type AdmissionResult,
  type AdmissionRules,
  admit,
  faultResult,
  malformedResult,
  tooLargeResult,
} from "./admit.ts";
import { checkSettings } from "./check-settings.ts";
import { logResult, sendReview } from "./send-review.ts";

/**
 * API servers store objects of up to about 1.5 MiB. JSON may double the size of an object, and a review can contain an object
 * twice. With a smaller limit, large Pods would not be injected.
 */
export const BODY_LIMIT_BYTES = 7 * 1024 * 1024;

/** A body of up to this size is read and discarded, so that its client receives status 413 instead of a connection reset. */
const DISCARD_LIMIT_BYTES = 64 * 1024 * 1024;

export type IntakePorts = {
  readonly recordRefusal: RecordRefusal;
  readonly connectionOf: ConnectionOf;
  readonly needsCertificate: boolean;
  readonly isStopping: () => boolean;
};

export type ReviewPorts = AdmissionPorts &
  IntakePorts & {
    readonly log: Log;
    readonly metrics: WebhookMetrics;
    readonly nowMs: () => number;
  };

export function addReviewRoutes(app: FastifyInstance<Server>, rules: AdmissionRules, ports: ReviewPorts): void {
  const sendResult = (reply: FastifyReply, result: AdmissionResult, startMs: number): void => {
    const ms = ports.nowMs() - startMs;
    ports.metrics.record(result.metricLabels, result.problems, ms / 1000);
    logResult(ports.log, result, ms);
    if (result.status === 200) sendReview(reply, result.body, ports.isStopping());
    else reply.code(result.status).header("content-type", "text/plain; charset=utf-8").send(result.body);
  };

  const refuse = (reply: FastifyReply, reason: RefusalReason): void => {
    const [status, sentence] = REFUSAL_RESPONSES[reason];
    ports.recordRefusal(reason);
    reply.code(status).header("connection", "close").header("content-type", "text/plain; charset=utf-8");
    reply.send(`${sentence}\n`);
  };

  const turns = createTurns(ports.nowMs);
  const limits = { acceptBytes: BODY_LIMIT_BYTES, discardBytes: DISCARD_LIMIT_BYTES };
  const readBody = bodyReader({
    limits,
    budget: timedBodyBudget(ports.nowMs),
    pool: createBufferPool(),
    pace: unknownClientPace(),
    isKnown: ({ socket }) => ports.connectionOf(socket)?.isKnown() ?? true,
    nowMs: ports.nowMs,
    schedule,
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", (request, payload, done) => {
    if (request.is404) done(null, undefined);
    else readBody(payload, (body) => done(null, body));
  });

  const options: Omit<RouteShorthandOptions<Server>, "handler"> = {
    bodyLimit: BODY_LIMIT_BYTES,
    onRequest: (request, reply, done) => {
      if (ports.needsCertificate && !hasClientCertificate(request.raw.socket)) {
        refuse(reply, "no_certificate");
        return;
      }
      ports.connectionOf(request.raw.socket)?.requestStarted();
      done();
    },
    errorHandler: (error, _request, reply) => {
      const isWrongContentType = error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE";
      sendResult(reply, isWrongContentType ? wrongContentType() : faultResult(error), ports.nowMs());
    },
  };

  const createRouteHandler = (review: ReviewHandler) => async (request: FastifyRequest, reply: FastifyReply) => {
    const body = request.body as BodyResult | undefined;
    if (body?.kind === "refused") {
      refuse(reply, body.reason);
      return reply;
    }
    const startMs = ports.nowMs();
    const { socket } = request.raw;
    const connection = ports.connectionOf(socket);
    const bytes = body?.kind === "complete" ? body.bytes : 0;
    await turns.start(bytes, socket.remoteAddress ?? "");
    if (body?.kind === "complete" && socket.destroyed) {
      // The client closed the connection while its review waited for a turn.
      body.release();
      return reply.hijack();
    }
    connection?.responseStarted();
    try {
      const result = await reviewBody(body, review);
      await turns.finish(bytes);
      sendResult(reply, result, startMs);
    } finally {
      connection?.responseFinished(reply.statusCode === 200);
      if (body?.kind === "complete") body.release();
    }
    return reply;
  };

  const { profiles } = rules.config;
  app.post(
    "/mutate",
    options,
    createRouteHandler((text) => admit(text, rules, ports)),
  );
  app.post(
    "/settings",
    options,
    createRouteHandler(async (text) => checkSettings(text, profiles, ports.reportSettings)),
  );
}

type ReviewHandler = (text: string) => Promise<AdmissionResult>;

async function reviewBody(body: ReceivedBody, review: ReviewHandler): Promise<AdmissionResult> {
  if (body === undefined) return review("");
  if (body.kind === "complete") return review(body.text());
  if (body.kind === "too-large") return tooLargeResult(BODY_LIMIT_BYTES);
  return malformedResult("cut_off", "The connection closed before the end of the body.");
}

type ReceivedBody = Exclude<BodyResult, RefusedBody> | undefined;

function wrongContentType(): AdmissionResult {
  const message = "The content type is not application/json.";
  return malformedResult("wrong_content_type", message, 415);
}

type RefusalReason = RefusedBody["reason"] | "no_certificate";

const REFUSAL_RESPONSES: Readonly<Record<RefusalReason, readonly [status: number, sentence: string]>> = {
  without_length: [411, "The request has no Content-Length."],
  slow_body: [408, "The body arrived too slowly."],
  bodies_full: [503, "Too many bodies are in progress, and this one is the oldest."],
  no_certificate: [403, "Reviews require a client certificate signed by the CA of --client-ca."],
};
