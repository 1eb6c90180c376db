/** Checks the credential and the rate of every request, and counts refusals. */
import type { Server } from "node:https";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Counter, type Registry } from "prom-client";
import { CREDENTIAL_SCHEME, type CredentialClaims, RELAY_BODY_LIMIT_BYTES } from "../../contract/relay-wire.ts";
import { METRICS } from "../metrics.ts";
import type { RelayLimits } from "./relay-limits.ts";

type Refusal = { readonly status: number; readonly reason: string; readonly message: string };

/** Refusals by the guard itself; `unread` is a body that ended early or has a wrong length. */
type GuardRefusal = "credential" | "rate" | "content_type" | "too_large" | "unread";
type Refusals = Readonly<Record<string, Refusal>> & Readonly<Record<GuardRefusal, Refusal>>;

const makeRefusal = (status: number, reason: string, message: string): Refusal => ({ status, reason, message });

const MALFORMED = makeRefusal(400, "malformed", "The request is malformed.");
const TOO_MANY_STREAMS = "Pods of this namespace have too many open streams.";
const OTHER_NAMESPACE = "The credential is for another namespace than the request.";
const TOO_MANY_REQUESTS = "Pods of this namespace send too many requests; retry in a second.";
const INVALID_CONTENT_TYPE = "The content type is not application/json.";

export const REFUSALS = {
  refused: {
    credential: makeRefusal(401, "credential", "The authorization header does not contain a valid credential."),
    rate: makeRefusal(429, "requests", "Pods of this namespace send too many requests; retry in a second."),
    pod_streams: makeRefusal(429, "pod_streams", "This Pod has too many open streams."),
    namespace_streams: makeRefusal(429, "namespace_streams", TOO_MANY_STREAMS),
    content_type: makeRefusal(415, "content_type", INVALID_CONTENT_TYPE),
    too_large: makeRefusal(413, "too_large", `The body is larger than ${RELAY_BODY_LIMIT_BYTES} bytes.`),
    malformed: MALFORMED,
    unread: MALFORMED,
    namespace: makeRefusal(403, "foreign_namespace", OTHER_NAMESPACE),
  },
  drainReportsRefused: {
    credential: makeRefusal(401, "credential", "The authorization header does not contain a valid credential."),
    namespace: makeRefusal(403, "namespace", OTHER_NAMESPACE),
    rate: makeRefusal(429, "rate_limited", TOO_MANY_REQUESTS),
    too_large: makeRefusal(413, "too_large", `The report is larger than ${RELAY_BODY_LIMIT_BYTES} bytes.`),
    malformed: makeRefusal(400, "malformed", "The body is not JSON."),
    unread: makeRefusal(400, "malformed", "The body could not be read to its end."),
    content_type: makeRefusal(415, "malformed", INVALID_CONTENT_TYPE),
  },
} satisfies Readonly<Record<string, Refusals>>;

type RefusalMetric = keyof typeof REFUSALS;

export type CheckCredential = (authorization: string | undefined) => CredentialClaims | undefined;

export type GuardPorts = {
  readonly checkCredential: CheckCredential;
  /** Shared by all routes; a malformed report also counts as a request of its namespace. */
  readonly limits: Pick<RelayLimits, "takeRequestToken">;
  readonly nowMs: () => number;
  readonly registry: Registry;
};

export type GuardedRequest = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly claims: CredentialClaims;
  readonly body: string;
  readonly refuse: (refusal: Refusal, message?: string) => FastifyReply;
};

type GuardedRoute = {
  readonly path: string;
  readonly contentType: string;
  readonly metric: RefusalMetric;
  readonly handle: (call: GuardedRequest) => FastifyReply;
};

export function addGuardedRoute(app: FastifyInstance<Server>, ports: GuardPorts, route: GuardedRoute): void {
  const refusals: Refusals = REFUSALS[route.metric];
  const countRefusal = refusalCounter(ports.registry, route.metric);
  const claimsByRequest = new WeakMap<FastifyRequest, CredentialClaims>();

  const refuse = (reply: FastifyReply, { status, reason, message }: Refusal, text: string = message): FastifyReply => {
    countRefusal(reason);
    // The connection is closed, because the rest of the request is not read.
    reply.code(status).header("connection", "close").header("content-type", "text/plain; charset=utf-8");
    if (status === 401) reply.header("www-authenticate", CREDENTIAL_SCHEME);
    if (status === 429) reply.header("retry-after", "1");
    return reply.send(`${text}\n`);
  };

  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(route.contentType, { parseAs: "string" }, (_request, body, done) => done(null, body));
    scope.post<{ Body: string | undefined }>(
      route.path,
      {
        bodyLimit: RELAY_BODY_LIMIT_BYTES,
        // Checks before the body is read, because reading takes memory.
        onRequest: async (request, reply) => {
          const claims = ports.checkCredential(request.headers.authorization);
          if (claims === undefined) return refuse(reply, refusals.credential);
          if (!ports.limits.takeRequestToken(claims.namespace, ports.nowMs())) return refuse(reply, refusals.rate);
          claimsByRequest.set(request, claims);
          return undefined;
        },
        errorHandler: (error, _request, reply) => {
          // The server's error handler responds to faults of the relay and logs them.
          if (!isClientError(error)) throw error;
          if (error.statusCode === 413) return refuse(reply, refusals.too_large);
          return refuse(reply, error.statusCode === 415 ? refusals.content_type : refusals.unread);
        },
      },
      async (request, reply) => {
        const claims = claimsByRequest.get(request);
        if (claims === undefined) throw new Error("the guard did not check this request");
        const body = request.body ?? "";
        return route.handle({ request, reply, claims, body, refuse: (refusal, text) => refuse(reply, refusal, text) });
      },
    );
  });
}

export function refusalCounter(registry: Registry, metric: RefusalMetric): (reason: string) => void {
  const counter = new Counter({ ...METRICS[metric], registers: [registry] });
  for (const { reason } of Object.values(REFUSALS[metric])) counter.inc({ reason }, 0);
  return (reason) => counter.inc({ reason });
}

export function isClientError({
  statusCode = 500,
  code,
}: {
  readonly statusCode?: number;
  readonly code?: string;
}): boolean {
  return statusCode < 500 || code === "ECONNRESET";
}
