/** Sends the response to a review, and logs the result. fastify's reply would take 2 % of a small admission's time. */
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import type { Log } from "../log.ts";
import type { AdmissionResult } from "./admit.ts";

/** A larger response may wait in the socket until the client reads. */
const LARGE_RESPONSE_BYTES = 16 * 1024;

export function sendReview(reply: FastifyReply, json: string, closesConnection: boolean): void {
  const bytes = Buffer.byteLength(json);
  const headers = ["Content-Type", "application/json", "Content-Length", String(bytes)];
  if (bytes > LARGE_RESPONSE_BYTES) keepNextRequest(reply.raw.socket);
  reply.hijack();
  reply.raw.writeHead(200, closesConnection ? [...headers, "Connection", "close"] : headers);
  // Most responses are ASCII, for which latin1 is faster. Warnings may quote other characters.
  reply.raw.end(json, bytes === json.length ? "latin1" : "utf8");
}

/**
 * While a response is being sent, Node pauses its HTTP parser at the next request. Bytes that TLS has already decrypted still
 * reach the parser, which then fails the connection. With a "data" listener, the socket's stream buffers these bytes.
 */
function keepNextRequest(socket: Socket | null): void {
  if (socket?.listeners("data").includes(NOOP_LISTENER) === false) socket.on("data", NOOP_LISTENER);
}

const NOOP_LISTENER = (): void => {};

const LOG_MESSAGE = "admission answered";

export function logResult(log: Log, result: AdmissionResult, ms: number): void {
  const { metricLabels } = result;
  const line = {
    uid: result.uid,
    namespace: result.namespace,
    pod: result.pod,
    outcome: metricLabels.outcome,
    reason: metricLabels.reason,
    mode: metricLabels.mode,
    dryRun: metricLabels.dryRun,
    problems: result.problems,
    status: result.status,
    ms: Math.round(ms * 1000) / 1000,
  };
  if (metricLabels.outcome === "fault") log.error({ ...line, err: result.fault }, LOG_MESSAGE);
  else if (result.status === 200) log.info(line, LOG_MESSAGE);
  else log.warn({ ...line, why: result.body.trimEnd() }, LOG_MESSAGE);
}
