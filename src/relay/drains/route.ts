/** `POST /v1/drains`: a manager's last words about its drain. */
import type { Server } from "node:https";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  type CredentialClaims,
  DRAINS_PATH,
  RELAY_BODY_LIMIT_BYTES,
  type RelayedPod,
} from "../../contract/relay-wire.ts";
import { readNotice } from "../../drain-history/read-notice.ts";
import type { CheckCredential } from "../credential-check.ts";
import type { RelayLimits } from "../limits/relay-limits.ts";
import type { Refused } from "./drain-metrics.ts";
import { type RecordPorts, recordDrain } from "./record-drain.ts";

export type DrainsPorts = RecordPorts & {
  readonly checkCredential: CheckCredential;
  /** Shared with the other routes of the relay: a report that cannot be read has cost its namespace a request too. */
  readonly limits: Pick<RelayLimits, "mayAsk">;
  /** Before the report is recorded. */
  readonly onReport: (pod: RelayedPod) => void;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Wall clock, milliseconds. */
  readonly wallMs: () => number;
  readonly log: DrainsLog;
};

type DrainsLog = {
  readonly info: (keys: object, sentence: string) => void;
  readonly error: (keys: object, sentence: string) => void;
};

type Refusal = { readonly status: number; readonly reason: Refused; readonly sentence: string };

const NO_CREDENTIAL: Refusal = {
  status: 401,
  reason: "credential",
  sentence: "The authorization header carries no valid credential.",
};
const TOO_MANY: Refusal = {
  status: 429,
  reason: "rate_limited",
  sentence: "This namespace has sent too many requests; another one is taken in a moment.",
};
const TOO_LARGE: Refusal = {
  status: 413,
  reason: "too_large",
  sentence: `The report is larger than ${RELAY_BODY_LIMIT_BYTES} bytes.`,
};
const CUT_OFF: Refusal = { status: 400, reason: "malformed", sentence: "The body could not be read to its end." };

const NO_TYPE: Refusal = {
  status: 415,
  reason: "malformed",
  sentence: "The content type cannot be read; a report is application/json.",
};
const NOT_JSON: Refusal = { status: 400, reason: "malformed", sentence: "The body is not JSON." };

/** In a scope of its own, so that no other route sees its parser. A body without a credential is not read. */
export function addDrainsRoute(app: FastifyInstance<Server>, ports: DrainsPorts): void {
  const claimsOf = new WeakMap<FastifyRequest, CredentialClaims>();

  const refuse = (reply: FastifyReply, refusal: Refusal): FastifyReply => {
    ports.meters.refused(refusal.reason);
    // What else this sender has in its pipe is not worth reading.
    reply.code(refusal.status).header("connection", "close").header("content-type", "text/plain; charset=utf-8");
    return reply.send(`${refusal.sentence}\n`);
  };

  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
    scope.route<{ Body: unknown }>({
      method: "POST",
      url: DRAINS_PATH,
      bodyLimit: RELAY_BODY_LIMIT_BYTES,
      onRequest: async (request, reply) => {
        const claims = ports.checkCredential(request.headers.authorization);
        if (claims === undefined) return refuse(reply, NO_CREDENTIAL);
        if (!ports.limits.mayAsk(claims.namespace, ports.nowMs())) return refuse(reply, TOO_MANY);
        claimsOf.set(request, claims);
        return undefined;
      },
      handler: async (request, reply) => {
        const claims = claimsOf.get(request);
        const refusal = claims === undefined ? NO_CREDENTIAL : take(request.body, claims, ports);
        return refusal === undefined ? reply.code(204).send() : refuse(reply, refusal);
      },
      errorHandler: (error, _request, reply) => {
        if (error.statusCode === 413) return refuse(reply, TOO_LARGE);
        if (error.statusCode === 415) return refuse(reply, NO_TYPE);
        if (isTheirs(error)) return refuse(reply, CUT_OFF);
        ports.log.error({ err: error }, "drain report failed");
        return reply.code(500).header("content-type", "text/plain; charset=utf-8").send("This is our fault.\n");
      },
    });
  });
}

/** The framework's own refusals, and a connection that broke in the middle of a body. */
function isTheirs(error: { readonly statusCode?: number | undefined; readonly code?: string }): boolean {
  return (error.statusCode !== undefined && error.statusCode < 500) || error.code === "ECONNRESET";
}

/** Remembers, counts and tells; answers what is wrong with the report, if anything is. */
function take(body: unknown, claims: CredentialClaims, ports: DrainsPorts): Refusal | undefined {
  const json = parsed(body);
  if (json === undefined) return NOT_JSON;
  const reading = readNotice(json);
  if (!reading.ok) return { status: 400, reason: "malformed", sentence: reading.problem };
  const { namespace, report } = reading.notice;
  if (namespace !== claims.namespace) {
    const sentence = `The credential speaks for namespace ${claims.namespace} and not for ${namespace}.`;
    return { status: 403, reason: "namespace", sentence };
  }
  ports.onReport(reading.notice);
  recordDrain({ pod: reading.notice, claims, endedAtMs: ports.wallMs(), report }, ports);
  return undefined;
}

/** `undefined` for what is no JSON; JSON itself knows no such value. */
function parsed(body: unknown): unknown {
  try {
    return typeof body === "string" ? JSON.parse(body) : undefined;
  } catch {
    return undefined;
  }
}
