/** `POST /mutate`: body to verdict to answer, with the one place that counts and logs. */

import type { Server } from "node:https";
import type { FastifyInstance, FastifyReply } from "fastify";
import {
  type AdmissionPorts,
  type AdmissionRules,
  admit,
  faultVerdict,
  malformedVerdict,
  tooLargeVerdict,
  type Verdict,
} from "./admit.ts";
import { type ReadBody, readBody } from "./body-reader.ts";
import type { Meters } from "./metrics.ts";
import { type Log, logVerdict } from "./request-log.ts";
import { sharedTurn } from "./turn-runner.ts";

/**
 * Largest body, in bytes. The API server takes requests of 3 MiB and stores objects of about 1.5 MiB; JSON may double
 * an object, and a review can carry it twice. A smaller limit would leave large Pods without injection in silence.
 */
export const BODY_LIMIT_BYTES = 7 * 1024 * 1024;

const DISCARD_LIMIT_BYTES = 64 * 1024 * 1024;

export type MutatePorts = AdmissionPorts & {
  readonly log: Log;
  readonly meters: Meters;
  /** Monotonic milliseconds with fractions. */
  readonly nowMs: () => number;
};

export function addMutateRoute(app: FastifyInstance<Server>, rules: AdmissionRules, ports: MutatePorts): void {
  const finish = (reply: FastifyReply, verdict: Verdict, startMs: number): void => {
    const ms = ports.nowMs() - startMs;
    ports.meters.record(verdict.entry, verdict.problems, ms / 1000);
    logVerdict(ports.log, verdict, ms);
    reply.code(verdict.status);
    reply.header("content-type", verdict.status === 200 ? "application/json" : "text/plain; charset=utf-8");
    reply.send(verdict.body);
  };

  const turn = sharedTurn();

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", (_request, payload, done) => {
    readBody(payload, { keepBytes: BODY_LIMIT_BYTES, discardBytes: DISCARD_LIMIT_BYTES }, (body) => done(null, body));
  });

  app.post<{ Body: ReadBody | undefined }>(
    "/mutate",
    {
      bodyLimit: BODY_LIMIT_BYTES,
      // What the framework itself refuses, and what slipped through everything else.
      errorHandler: (error, _request, reply) => {
        const refused = error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE";
        finish(reply, refused ? wrongContentType() : faultVerdict(error), ports.nowMs());
      },
    },
    async (request, reply) => {
      const startMs = ports.nowMs();
      await turn();
      finish(reply, await verdictOn(request.body, rules, ports), startMs);
      return reply;
    },
  );
}

async function verdictOn(body: ReadBody | undefined, rules: AdmissionRules, ports: MutatePorts): Promise<Verdict> {
  if (body === undefined) return admit("", rules, ports);
  if (body.kind === "text") return admit(body.text, rules, ports);
  if (body.kind === "too-large") return tooLargeVerdict(BODY_LIMIT_BYTES);
  return malformedVerdict("cut_off", "The connection ended before the body did.");
}

function wrongContentType(): Verdict {
  const message = "The content type is not application/json, which is what an AdmissionReview is sent as.";
  return malformedVerdict("wrong_content_type", message, 415);
}
