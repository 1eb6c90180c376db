/** Answers to reviews are sent past the framework, which would take 2 % of a small admission's time to do the same. */
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import type { Log } from "../log.ts";
import type { Verdict } from "./admit.ts";

/** Below what makes a socket wait for its client. */
const LARGE_ANSWER_BYTES = 16 * 1024;

/** @param isLast whether the client shall open a new connection for its next review */
export function sendReview(reply: FastifyReply, json: string, isLast: boolean): void {
  const bytes = Buffer.byteLength(json);
  const head = ["Content-Type", "application/json", "Content-Length", String(bytes)];
  if (bytes > LARGE_ANSWER_BYTES) keepWhatComesNext(reply.raw.socket);
  reply.hijack();
  reply.raw.writeHead(200, isLast ? [...head, "Connection", "close"] : head);
  // Most answers are ASCII, which needs no encoding; warnings may quote other text.
  reply.raw.end(json, bytes === json.length ? "latin1" : "utf8");
}

/**
 * While an answer is on its way, Node stops its parser at the head of the next request. The rest of what TLS had decrypted by then
 * would still be handed to the parser, which gives the connection up for it: a review of more than 16 KiB was lost. With a listener
 * of ours, bytes come through the socket's stream, which keeps them.
 */
function keepWhatComesNext(socket: Socket | null): void {
  if (socket?.listeners("data").includes(LISTENER) === false) socket.on("data", LISTENER);
}

const LISTENER = (): void => {};

const REQUEST_SENTENCE = "admission answered";

/** `ms` is milliseconds from the complete body to the finished answer. */
export function logVerdict(log: Log, verdict: Verdict, ms: number): void {
  const { entry } = verdict;
  const line = {
    uid: verdict.uid,
    namespace: verdict.namespace,
    pod: verdict.pod,
    outcome: entry.outcome,
    reason: entry.reason,
    mode: entry.mode,
    dryRun: entry.dryRun,
    problems: verdict.problems,
    status: verdict.status,
    ms: Math.round(ms * 1000) / 1000,
  };
  if (entry.outcome === "fault") log.error({ ...line, err: verdict.fault }, REQUEST_SENTENCE);
  else if (verdict.status === 200) log.info(line, REQUEST_SENTENCE);
  else log.warn({ ...line, why: verdict.body.trimEnd() }, REQUEST_SENTENCE);
}
