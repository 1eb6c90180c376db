/**
 * What the client says to the relay over TLS: one exchange, the streamed answer to a question, a report. Each has a bound
 * on what the relay may send and how long it may take.
 */
import {
  CREDENTIAL_SCHEME,
  DRAINS_PATH,
  RELAY_BODY_LIMIT_BYTES,
  RELAY_LINE_LIMIT_BYTES,
  WITHDRAWAL_PATH,
  WITHDRAWAL_PULSE_QUERY,
  type WithdrawalQuestion,
} from "../../contract/relay-wire.ts";
import { type ExchangeCallbacks, exchangeOverTls } from "../http/http-client.ts";
import { createLineBuffer, createRateLimit } from "../line-buffer.ts";
import type { NowMs } from "../ports.ts";
import { parseWithdrawalStatus, type WithdrawalStatus } from "./ipc-messages.ts";
import type { RelaySettings } from "./relay-settings.ts";

type Words = { readonly hints: readonly string[]; readonly means: string };

/** The first that fits. */
const FAILURES: readonly Words[] = [
  { hints: ["ECONNREFUSED"], means: "its address refuses connections" },
  { hints: ["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "EADDRNOTAVAIL"], means: "its address cannot be reached" },
  { hints: ["expired"], means: "its certificate has expired" },
  { hints: ["not yet valid"], means: "its certificate is not valid yet" },
  { hints: ["altnames"], means: "its certificate is for another name" },
  {
    hints: ["verify", "self-signed", "self signed", "issuer"],
    means: "its certificate is not vouched for by the given CA",
  },
  { hints: ["EPROTO", "handshake failed", "SSL", "wrong version"], means: "it does not speak TLS as expected" },
  { hints: ["hang up", "disconnected", "ECONNRESET", "EPIPE", "closed", "aborted"], means: "it closed the connection" },
];

/** @param message of the library */
function relayFailure(message: string): string {
  for (const { hints, means } of FAILURES) {
    if (hints.some((hint) => message.includes(hint))) return means;
  }
  return "the connection failed";
}

type RelayCall = {
  readonly path: string;
  readonly body: string;
};

/** The caller sets the limits. @returns a function that drops the exchange without a further callback */
export function callRelay(settings: RelaySettings, call: RelayCall, callbacks: ExchangeCallbacks): () => void {
  const { endpoint, serverName, ca, credential } = settings;
  const headers: Record<string, string> = {
    host: serverName,
    authorization: `${CREDENTIAL_SCHEME} ${credential}`,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(call.body)),
    connection: "close",
  };
  const server = { address: endpoint.address, port: endpoint.port, serverName, ca };
  return exchangeOverTls(server, call.path, headers, call.body, {
    onStatus: callbacks.onStatus,
    onBytes: callbacks.onBytes,
    onEnd: (failure) => callbacks.onEnd(failure === "" ? "" : relayFailure(failure)),
  });
}

type StreamEars = {
  readonly onWord: (word: WithdrawalStatus) => void;
  /** Called once, unless the stream was dropped. */
  readonly onBroke: (reason: string) => void;
};

/** Per second. Pulses and changes are a few lines. */
const LIMITS = { bytes: 16 * RELAY_LINE_LIMIT_BYTES, lines: 50 };

/** @returns what drops the stream */
export function openWithdrawal(
  settings: RelaySettings,
  heartbeat: boolean,
  nowMs: NowMs,
  ears: StreamEars,
): () => void {
  const buffer = createLineBuffer(RELAY_LINE_LIMIT_BYTES);
  const gate = createRateLimit(LIMITS, nowMs);
  let open = true;
  let drop = (): void => {};
  const close = (): void => {
    open = false;
    drop();
  };
  const give = (reason: string): void => {
    if (!open) return;
    close();
    ears.onBroke(reason);
  };

  const takeBytes = (chunk: Buffer): void => {
    const lines = buffer.take(chunk);
    if (lines === undefined) give(`its line is longer than ${RELAY_LINE_LIMIT_BYTES} bytes`);
    else if (!gate.admits(chunk.length, lines.length)) give("it floods");
    else for (const line of lines) takeLine(line);
  };
  const takeLine = (line: string): void => {
    // The line before may have ended the stream.
    if (!open) return;
    const word = parseWithdrawalStatus(line);
    if (word === undefined) give("it wrote a line that is no answer");
    else ears.onWord(word);
  };

  const path = heartbeat ? `${WITHDRAWAL_PATH}${WITHDRAWAL_PULSE_QUERY}` : WITHDRAWAL_PATH;
  drop = callRelay(
    settings,
    { path, body: questionOf(settings) },
    {
      onStatus: (status) => {
        if (status !== 200) give(`it answered ${status}`);
      },
      onBytes: (chunk) => {
        if (open) takeBytes(chunk);
        return "";
      },
      onEnd: (failure) => give(failure === "" ? "it ended its answer" : failure),
    },
  );
  return close;
}

function questionOf(settings: RelaySettings): string {
  const { namespace, pod, uid, addresses } = settings;
  const question: WithdrawalQuestion = { namespace, pod, uid, addresses };
  return JSON.stringify(question);
}

/** For one try: it ends the manager's life at a Pod's end, which must not become longer. */
const TRY_LIMIT_MS = 2_000;
const TRIES = 2;

type Delivery = {
  /** A connection is about to be opened. */
  readonly onDial: () => void;
  /** Called once; empty, or why the report is lost. */
  readonly onEnd: (failure: string) => void;
};

/** @param report its JSON */
export function deliverReport(settings: RelaySettings, report: string, delivery: Delivery): void {
  const { namespace, pod, uid } = settings;
  // The report is JSON already, and goes on as it is.
  const body = `{"namespace":${JSON.stringify(namespace)},"pod":${JSON.stringify(pod)},"uid":${JSON.stringify(uid)},"report":${report}}`;
  if (Buffer.byteLength(body) > RELAY_BODY_LIMIT_BYTES) {
    delivery.onEnd("it is too long");
    return;
  }
  attempt(settings, body, TRIES, delivery);
}

function attempt(settings: RelaySettings, body: string, tries: number, delivery: Delivery): void {
  let settled = false;
  const settle = (failure: string, final: boolean): void => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    drop();
    if (failure === "" || final || tries <= 1) delivery.onEnd(failure);
    else attempt(settings, body, tries - 1, delivery);
  };
  const timer = setTimeout(() => settle(`no answer within ${TRY_LIMIT_MS} ms`, false), TRY_LIMIT_MS);
  delivery.onDial();
  const drop = callRelay(
    settings,
    { path: DRAINS_PATH, body },
    {
      // What the relay does not want it will not want a moment later; only its own trouble passes.
      onStatus: (status) => settle(status >= 200 && status < 300 ? "" : `it answered ${status}`, status < 500),
      onBytes: () => "",
      onEnd: (failure) => settle(failure, false),
    },
  );
}
