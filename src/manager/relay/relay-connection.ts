/** Opens withdrawal streams and delivers reports over TLS. Limits the size of every response. */
import {
  CREDENTIAL_SCHEME,
  DRAINS_PATH,
  RELAY_BODY_LIMIT_BYTES,
  RELAY_LINE_LIMIT_BYTES,
  WITHDRAWAL_HEARTBEAT_QUERY,
  WITHDRAWAL_PATH,
  type WithdrawalRequest,
} from "../../contract/relay-wire.ts";
import { type Exchange, type ExchangeCallbacks, exchangeOverTls } from "../http/http-client.ts";
import { createLineBuffer, createRateLimit } from "../line-buffer.ts";
import type { NowMs } from "../ports.ts";
import { parseWithdrawalStatus, type WithdrawalStatus } from "./ipc-messages.ts";
import type { RelaySettings } from "./relay-settings.ts";

type FailurePattern = { readonly hints: readonly string[]; readonly message: string };

const TOO_LONG = "the relay's response is too long";

/** Built when it is needed, because the idle manager keeps all constants in memory. */
const failurePatterns = (): readonly FailurePattern[] => [
  { hints: ["ECONNREFUSED"], message: "the relay's address refuses connections" },
  {
    hints: ["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "EADDRNOTAVAIL"],
    message: "the relay's address cannot be reached",
  },
  { hints: ["expired"], message: "the relay's certificate has expired" },
  { hints: ["not yet valid"], message: "the relay's certificate is not valid yet" },
  { hints: ["altnames"], message: "the relay's certificate is for another name" },
  {
    hints: ["verify", "self-signed", "self signed", "issuer"],
    message: "the relay's certificate is not signed by the configured CA",
  },
  { hints: [TOO_LONG], message: TOO_LONG },
  { hints: ["EPROTO", "handshake failed", "SSL", "wrong version"], message: "the TLS handshake with the relay failed" },
  {
    hints: ["hang up", "disconnected", "ECONNRESET", "EPIPE", "closed", "aborted"],
    message: "the relay closed the connection",
  },
];

function failureText(failure: string): string {
  for (const { hints, message } of failurePatterns()) {
    if (hints.some((hint) => failure.includes(hint))) return message;
  }
  return "the connection to the relay failed";
}

type RelayCall = {
  readonly path: string;
  readonly body: string;
};

/** The caller enforces limits on size and time. */
export function callRelay(settings: RelaySettings, call: RelayCall, callbacks: ExchangeCallbacks): Exchange {
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
    onEnd: (failure) => callbacks.onEnd(failure === "" ? "" : failureText(failure)),
  });
}

type StreamCallbacks = {
  readonly onStatus: (status: WithdrawalStatus) => void;
  readonly onClosed: (reason: string) => void;
};

/** Per second, and far above the rate of heartbeats and status changes. */
const STREAM_LIMITS = { bytes: 16 * RELAY_LINE_LIMIT_BYTES, lines: 50 };

export function openWithdrawal(
  settings: RelaySettings,
  hasHeartbeat: boolean,
  nowMs: NowMs,
  callbacks: StreamCallbacks,
): () => void {
  const buffer = createLineBuffer(RELAY_LINE_LIMIT_BYTES);
  const rateLimit = createRateLimit(STREAM_LIMITS, nowMs);
  let isOpen = true;
  let destroy = (): void => {};
  const fail = (reason: string): void => {
    if (!isOpen) return;
    isOpen = false;
    destroy();
    callbacks.onClosed(reason);
  };

  const readChunk = (chunk: Buffer): void => {
    const lines = buffer.addChunk(chunk);
    if (lines === undefined) fail(`the relay sent a line of more than ${RELAY_LINE_LIMIT_BYTES} bytes`);
    else if (!rateLimit.admits(chunk.length, lines.length)) fail("the relay sends too much data");
    else for (const line of lines) readLine(line);
  };
  const readLine = (line: string): void => {
    // The handler of an earlier line in the same chunk may have ended the stream.
    if (!isOpen) return;
    const status = parseWithdrawalStatus(line);
    if (status === undefined) fail("the relay sent an invalid line");
    else callbacks.onStatus(status);
  };

  const path = hasHeartbeat ? `${WITHDRAWAL_PATH}${WITHDRAWAL_HEARTBEAT_QUERY}` : WITHDRAWAL_PATH;
  const exchange = callRelay(
    settings,
    { path, body: requestBody(settings) },
    {
      onStatus: (status) => {
        if (status !== 200) fail(`the relay responded with status ${status}`);
      },
      onBytes: (chunk) => {
        if (isOpen) readChunk(chunk);
        return "";
      },
      onEnd: (failure) => fail(failure === "" ? "the relay ended the response" : failure),
    },
  );
  destroy = exchange.destroy;
  return () => {
    isOpen = false;
    exchange.close();
  };
}

function requestBody(settings: RelaySettings): string {
  const { namespace, pod, uid, addresses } = settings;
  const request: WithdrawalRequest = { namespace, pod, uid, addresses };
  return JSON.stringify(request);
}

/** Short, because the manager waits for the delivery, and the Pod terminates only after the manager has exited. */
const ATTEMPT_TIMEOUT_MS = 2_000;

type Delivery = {
  readonly onDial: () => void;
  readonly onEnd: (failure: string) => void;
};

export function deliverReport(settings: RelaySettings, report: string, attempts: number, delivery: Delivery): void {
  const { namespace, pod, uid } = settings;
  const body = `{"namespace":${JSON.stringify(namespace)},"pod":${JSON.stringify(pod)},"uid":${JSON.stringify(uid)},"report":${report}}`;
  if (Buffer.byteLength(body) > RELAY_BODY_LIMIT_BYTES) {
    delivery.onEnd("the report is longer than the relay accepts");
    return;
  }
  attempt(settings, body, attempts, delivery);
}

function attempt(settings: RelaySettings, body: string, attempts: number, delivery: Delivery): void {
  let isSettled = false;
  let status = 0;
  let bodyBytes = 0;
  const settle = (failure: string, isFinal: boolean): void => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    exchange.destroy();
    if (failure === "" || isFinal || attempts <= 1) delivery.onEnd(failure);
    else attempt(settings, body, attempts - 1, delivery);
  };
  const timer = setTimeout(
    () => settle(`the relay did not respond within ${ATTEMPT_TIMEOUT_MS} ms`, false),
    ATTEMPT_TIMEOUT_MS,
  );
  delivery.onDial();
  const exchange = callRelay(
    settings,
    { path: DRAINS_PATH, body },
    {
      onStatus: (receivedStatus) => {
        status = receivedStatus;
      },
      onBytes: (chunk) => {
        bodyBytes = bodyBytes + chunk.length;
        return bodyBytes > RELAY_LINE_LIMIT_BYTES ? TOO_LONG : "";
      },
      onEnd: (failure) => {
        const isAccepted = status >= 200 && status < 300;
        // A second attempt can only succeed after a 5xx or a broken connection.
        if (failure !== "" || isAccepted) settle(failure, false);
        else settle(`the relay responded with status ${status}`, status < 500);
      },
    },
  );
}
