/** Serves a fake relay: one stream per request, heartbeats on streams that request them, and faults on demand. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import { DRAINS_PATH, RELAY_HEARTBEAT_MS, type WithdrawalStatusLine } from "../../src/contract/relay-wire.ts";

import type { TestClock } from "../clock/test-clock.ts";

export type ReceivedRequest = {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown>;
  readonly servername: string | false | null;
};

export type RelayEvent =
  | { readonly kind: "request"; readonly request: ReceivedRequest }
  | { readonly kind: "report"; readonly report: Record<string, unknown> }
  | { readonly kind: "streams"; readonly count: number };

/** Contains only plain data, because the plan is passed to a worker thread. */
export type RelayPlan = {
  readonly address: string;
  readonly leaf: { readonly cert: string; readonly key: string };
  readonly firstStatus: WithdrawalStatusLine;
  readonly hasHeartbeat: boolean;
};

export type RelayRequestHandler = (req: IncomingMessage, res: ServerResponse, body: string) => void;

export type RelayServer = {
  readonly port: number;
  readonly send: (status: WithdrawalStatusLine) => void;
  readonly crash: () => Promise<void>;
  readonly restart: () => Promise<void>;
  readonly freeze: () => void;
};

/** Fixed, so the relay can listen on the same port after a restart; every relay has a separate address. */
const PORT = 8_443;

export async function openRelay(
  plan: RelayPlan,
  emit: (event: RelayEvent) => void,
  respond?: RelayRequestHandler,
  clock?: TestClock,
): Promise<RelayServer> {
  const sockets = new Set<Socket>();
  let streams: { readonly res: ServerResponse; readonly hasHeartbeat: boolean }[] = [];
  let currentStatus = plan.firstStatus;
  let isFrozen = false;
  const write = (res: ServerResponse) => {
    if (isFrozen) return;
    res.write(`${JSON.stringify(currentStatus)}\n`);
  };
  const openStream = (res: ServerResponse, hasHeartbeat: boolean) => {
    res.writeHead(200, { "content-type": "application/x-ndjson" });
    const stream = { res, hasHeartbeat };
    streams.push(stream);
    res.on("close", () => {
      streams = streams.filter((one) => one !== stream);
      emit({ kind: "streams", count: streams.length });
    });
    emit({ kind: "streams", count: streams.length });
    write(res);
  };
  const handle: RelayRequestHandler = (req, res, text) => {
    if (isFrozen) return;
    const path = req.url ?? "";
    const body: Record<string, unknown> = JSON.parse(text);
    const servername = "servername" in req.socket ? (req.socket.servername as string) : null;
    if (path === DRAINS_PATH) {
      res.useChunkedEncodingByDefault = false;
      res.writeHead(200, { connection: "close" }).end();
    } else openStream(res, path.includes("?heartbeat") && plan.hasHeartbeat);
    emit({
      kind: "request",
      request: { path, authorization: req.headers.authorization, body, servername: servername },
    });
    if (path === DRAINS_PATH) emit({ kind: "report", report: body });
  };
  const listen = async (port: number): Promise<Server> => {
    const server = createServer(plan.leaf, (req, res) => {
      let text = "";
      req.on("data", (chunk: Buffer) => {
        text += chunk.toString("utf8");
      });
      req.on("end", () => (respond ?? handle)(req, res, text));
    });
    server.on("connection", (socket: Socket) => {
      // Nagle's algorithm would delay data by the kernel's clock, which a test clock does not advance.
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    });
    server.on("tlsClientError", () => {});
    await new Promise<void>((resolve, reject) => {
      server.on("error", reject);
      server.listen(port, plan.address, resolve);
    });
    return server;
  };
  let server = await listen(PORT);
  const sendHeartbeats = () => {
    for (const stream of streams) if (stream.hasHeartbeat) write(stream.res);
  };
  if (clock === undefined) setInterval(sendHeartbeats, RELAY_HEARTBEAT_MS).unref();
  else clock.every(RELAY_HEARTBEAT_MS, sendHeartbeats);
  return {
    port: PORT,
    send: (status) => {
      currentStatus = status;
      for (const stream of streams) write(stream.res);
    },
    crash: async () => {
      const closing = server.listening ? once(server.close(), "close") : Promise.resolve();
      for (const socket of sockets) socket.destroy();
      await closing;
    },
    restart: async () => {
      server = await listen(PORT);
    },
    freeze: () => {
      isFrozen = true;
    },
  };
}
