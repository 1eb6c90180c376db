/** Serves the withdrawal route over TLS with fakes for its ports, also to misbehaving clients. */
import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import Fastify from "fastify";
import { Registry } from "prom-client";
import type { CredentialClaims, WithdrawalRequest, WithdrawalStatusLine } from "../../../src/contract/relay-wire.ts";
import type { GracefulWorkloads } from "../../../src/relay/drains/graceful-workloads.ts";
import { type LostDrains, NO_LOST_DRAINS } from "../../../src/relay/lost/lost-drains.ts";
import { createRelayLimits, type RelayLimits } from "../../../src/relay/server/relay-limits.ts";
import type { Clock } from "../../../src/relay/slices/clock.ts";
import type { WatchPod } from "../../../src/relay/slices/slice-watches.ts";
import { addWithdrawalRoute } from "../../../src/relay/withdrawal/withdrawal-route.ts";
import { makeCertificate } from "../../../src/webhook/certificates/self-made.ts";
import { createManualClock } from "../manual-clock.ts";

export const WALL_MS = 1_795_000_000_000;

const certificate = makeCertificate("lastcall", Date.now());

export const IN_STATUS: WithdrawalStatusLine = { state: "in", terminating: false, reason: "web" };
export const OUT_STATUS: WithdrawalStatusLine = { state: "out", terminating: true, reason: "web" };

export const REQUEST: WithdrawalRequest = {
  namespace: "shop",
  pod: "web-1",
  uid: "uid-1",
  addresses: ["10.0.0.1"],
};

/** Returns a fake credential with its namespace in plain text; other tests cover the verification of credentials. */
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
  hasLeft: boolean;
};

export type RelayResponse = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Returns the text that was received until now. */
  readonly text: () => string;
  readonly lines: () => readonly WithdrawalStatusLine[];
  readonly ended: Promise<"ended" | "broken">;
  readonly disconnect: () => void;
  readonly message: IncomingMessage;
};

export type StreamingRelay = {
  readonly watchers: readonly Watcher[];
  readonly request: (pod?: Partial<WithdrawalRequest>, path?: string) => Promise<RelayResponse>;
  readonly send: (what: RawRequest) => Promise<RelayResponse>;
  /** Opens a raw TLS connection. */
  readonly openConnection: () => Promise<TLSSocket>;
  /** Advances the clock of the route. */
  readonly advance: (ms: number) => void;
  readonly metrics: () => Promise<string>;
  readonly connections: () => Promise<number>;
  /** Closes the server as the program does, and waits for open responses. */
  readonly end: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type RawRequest = {
  readonly body: string | Buffer;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the client repeats the body without end. */
  readonly isEndless?: boolean;
};

export type RelayOptions = {
  readonly watchPod?: WatchPod;
  readonly streamsLimit?: number;
  readonly limits?: Partial<RelayLimits>;
  readonly requestTimeoutMs?: number;
  readonly clock?: Clock;
  readonly lostDrains?: LostDrains;
  readonly isGraceful?: GracefulWorkloads["isGraceful"];
  readonly wallMs?: () => number;
};

export const AUTHORIZED = { authorization: credentialFor("shop"), "content-type": "application/json" };

export async function startStreamingRelay(options: RelayOptions = {}): Promise<StreamingRelay> {
  const authority = await certificate;
  const { cert, key } = authority.source.current();
  const requestTimeout = options.requestTimeoutMs ?? 30_000;
  const app = Fastify({
    https: { cert, key, requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval: 50 },
    requestTimeout,
  });
  const watchers: Watcher[] = [];
  const registry = new Registry();
  const clock = createManualClock(1);
  const watchPod: WatchPod = (request, send) => {
    const watcher: Watcher = { request, send, hasLeft: false };
    watchers.push(watcher);
    send(IN_STATUS);
    return () => {
      watcher.hasLeft = true;
    };
  };
  addWithdrawalRoute(app, {
    checkCredential: claimsOf,
    watchPod: options.watchPod ?? watchPod,
    limits: { ...createRelayLimits(options.streamsLimit), ...options.limits },
    clock: options.clock ?? clock,
    lostDrains: options.lostDrains ?? NO_LOST_DRAINS,
    isGraceful: options.isGraceful ?? (() => false),
    wallMs: options.wallMs ?? (() => WALL_MS),
    registry,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const address = { host: "127.0.0.1", port, ca: authority.caCertificate, servername: "localhost" };

  const send = ({
    body,
    path = "/v1/withdrawal",
    headers = AUTHORIZED,
    isEndless = false,
  }: RawRequest): Promise<RelayResponse> =>
    new Promise((resolve, reject) => {
      const clientRequest: ClientRequest = request(
        { ...address, path, method: "POST", headers, agent: false },
        (message) => {
          message.on("error", () => undefined);
          resolve(readResponse(message));
        },
      );
      clientRequest.on("error", reject);
      if (isEndless) writeEndlessly(clientRequest, body);
      else clientRequest.end(body);
    });

  return {
    watchers,
    send,
    request: (fields = {}, path) => {
      const fullRequest = { ...REQUEST, ...fields };
      const headers = { ...AUTHORIZED, authorization: credentialFor(fullRequest.namespace) };
      return send({ body: JSON.stringify(fullRequest), headers, ...(path === undefined ? {} : { path }) });
    },
    openConnection: async () => {
      const socket = connect(address);
      await once(socket, "secureConnect");
      socket.on("error", () => undefined);
      return socket;
    },
    advance: clock.jump,
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

function writeEndlessly(clientRequest: ClientRequest, chunk: string | Buffer): void {
  const writeMore = (): void => {
    while (!clientRequest.destroyed && clientRequest.write(chunk));
  };
  clientRequest.on("drain", writeMore);
  writeMore();
}

function readResponse(message: IncomingMessage): RelayResponse {
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
    disconnect: () => message.destroy(),
    message,
  };
}
