/** Serves the withdrawal route over TLS with fakes for everything else, and lets clients misbehave. */
import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import Fastify from "fastify";
import { Registry } from "prom-client";
import type { CredentialClaims, WithdrawalRequest, WithdrawalStatusLine } from "../../../src/contract/relay-wire.ts";
import { type LostDrains, NO_LOST_DRAINS } from "../../../src/relay/lost/lost-drains.ts";
import { createRelayLimits, type RelayLimits } from "../../../src/relay/server/relay-limits.ts";
import type { Clock } from "../../../src/relay/slices/clock.ts";
import type { WatchPod } from "../../../src/relay/slices/slice-watches.ts";
import { addWithdrawalRoute } from "../../../src/relay/withdrawal/withdrawal-route.ts";
import { makeCertificate } from "../../../src/webhook/certificates/self-made.ts";
import { turnedClock } from "../manual-clock.ts";

export const WALL_MS = 1_795_000_000_000;

const certificate = makeCertificate("lastcall", Date.now());

export const IN: WithdrawalStatusLine = { state: "in", terminating: false, reason: "web" };
export const OUT: WithdrawalStatusLine = { state: "out", terminating: true, reason: "web" };

export const REQUEST: WithdrawalRequest = {
  namespace: "shop",
  pod: "web-1",
  uid: "uid-1",
  addresses: ["10.0.0.1"],
};

/** A credential is the name of a namespace here; other tests cover its validity. */
const credentialFor = (namespace: string): string => `Lastcall for-${namespace}`;

function claimsOf(authorization: string | undefined): CredentialClaims | undefined {
  const namespace = /^Lastcall for-([a-z]+)$/.exec(authorization ?? "")?.[1];
  return namespace === undefined
    ? undefined
    : { namespace, ownerKind: "", ownerName: "", ownerUid: "", nonce: "nonce" };
}

/** A watch of a Pod, started by the route. */
export type Watcher = {
  readonly request: WithdrawalRequest;
  readonly send: (line: WithdrawalStatusLine) => void;
  left: boolean;
};

export type Answer = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Everything received so far. */
  readonly text: () => string;
  readonly lines: () => readonly WithdrawalStatusLine[];
  readonly ended: Promise<"ended" | "broken">;
  readonly leave: () => void;
  readonly message: IncomingMessage;
};

export type StreamingRelay = {
  readonly watchers: readonly Watcher[];
  readonly request: (pod?: Partial<WithdrawalRequest>, path?: string) => Promise<Answer>;
  readonly send: (what: Sent) => Promise<Answer>;
  /** Opens a raw TLS connection. */
  readonly dial: () => Promise<TLSSocket>;
  /** Moves the route's clock. */
  readonly turn: (ms: number) => void;
  readonly metrics: () => Promise<string>;
  readonly connections: () => Promise<number>;
  /** Closes as the program does, and waits for clients that are still being answered. */
  readonly end: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type Sent = {
  readonly body: string | Buffer;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body goes on for ever. */
  readonly endless?: boolean;
};

export type RelayChoices = {
  readonly watchPod?: WatchPod;
  readonly streamsLimit?: number;
  readonly limits?: Partial<RelayLimits>;
  readonly requestTimeoutMs?: number;
  readonly clock?: Clock;
  readonly lost?: LostDrains;
  readonly wallMs?: () => number;
};

export const AUTHORIZED = { authorization: credentialFor("shop"), "content-type": "application/json" };

export async function streamingRelay(choices: RelayChoices = {}): Promise<StreamingRelay> {
  const made = await certificate;
  const { cert, key } = made.source.current();
  const requestTimeout = choices.requestTimeoutMs ?? 30_000;
  const app = Fastify({
    https: { cert, key, requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval: 50 },
    requestTimeout,
  });
  const watchers: Watcher[] = [];
  const registry = new Registry();
  const time = turnedClock(1);
  const watchPod: WatchPod = (request, send) => {
    const watcher: Watcher = { request, send, left: false };
    watchers.push(watcher);
    send(IN);
    return () => {
      watcher.left = true;
    };
  };
  addWithdrawalRoute(app, {
    checkCredential: claimsOf,
    watchPod: choices.watchPod ?? watchPod,
    limits: { ...createRelayLimits(choices.streamsLimit), ...choices.limits },
    clock: choices.clock ?? time,
    lostDrains: choices.lost ?? NO_LOST_DRAINS,
    wallMs: choices.wallMs ?? (() => WALL_MS),
    registry,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const where = { host: "127.0.0.1", port, ca: made.caCertificate, servername: "localhost" };

  const send = ({ body, path = "/v1/withdrawal", headers = AUTHORIZED, endless = false }: Sent): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent: ClientRequest = request({ ...where, path, method: "POST", headers, agent: false }, (message) => {
        message.on("error", () => undefined);
        resolve(answerOf(message));
      });
      sent.on("error", reject);
      if (endless) neverEnd(sent, body);
      else sent.end(body);
    });

  return {
    watchers,
    send,
    request: (fields = {}, path) => {
      const whole = { ...REQUEST, ...fields };
      const headers = { ...AUTHORIZED, authorization: credentialFor(whole.namespace) };
      return send({ body: JSON.stringify(whole), headers, ...(path === undefined ? {} : { path }) });
    },
    dial: async () => {
      const socket = connect(where);
      await once(socket, "secureConnect");
      socket.on("error", () => undefined);
      return socket;
    },
    turn: time.jump,
    metrics: () => registry.metrics(),
    connections: () =>
      new Promise((resolve, reject) => {
        app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
    end: async () => {
      await app.close();
    },
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

function neverEnd(sent: ClientRequest, piece: string | Buffer): void {
  const more = (): void => {
    while (!sent.destroyed && sent.write(piece));
  };
  sent.on("drain", more);
  more();
}

function answerOf(message: IncomingMessage): Answer {
  let text = "";
  message.setEncoding("utf8");
  message.on("data", (chunk: string) => {
    text += chunk;
  });
  const ended = new Promise<"ended" | "broken">((resolve) => {
    message.on("close", () => resolve(message.complete ? "ended" : "broken"));
  });
  return {
    status: message.statusCode ?? 0,
    headers: message.headers,
    text: () => text,
    lines: () =>
      text
        .split("\n")
        .slice(0, -1)
        .map((line): WithdrawalStatusLine => JSON.parse(line)),
    ended,
    leave: () => message.destroy(),
    message,
  };
}
