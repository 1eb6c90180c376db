/** The manager's HTTP side: answers at once, or holds a call until told. Decides nothing about the drain. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { NowMs, PortGuard } from "../ports.ts";
import { canonicalAddress } from "../sockets/address-text.ts";
import { isLocalCaller, routeOf } from "./call-route.ts";
import { createConnectionTable } from "./connection-table.ts";

/** Whom the server tells about calls. */
type HookCalls = {
  readonly onHook: (holdId: number, container: string, peer: string) => void;
  readonly onDrain: (holdId: number) => void;
  /** The caller of a hold has gone without its answer. */
  readonly onLeft: (holdId: number) => void;
  readonly status: () => string;
  readonly onListening: () => void;
  /** The address cannot be had now; the server tries again by itself. */
  readonly onRefused: (message: string) => void;
};

type HookServer = {
  readonly open: (calls: HookCalls) => void;
  /** Answers one hold; unknown numbers are ignored, since callers may leave at any time. */
  readonly answer: (holdId: number, body: string) => void;
  /** Connections accepted since the start; a running total. */
  readonly accepted: () => number;
};

/** A sidecar that exits makes its Pod NotReady, so a taken port is waited for. */
const RETRY_MS = 5_000;

type Waiting = { readonly id: number; readonly res: ServerResponse; readonly socket: Socket };

/** @param guard what keeps strangers from the port, if anything does */
export function createHookServer(settings: DrainSettings, token: string, guard: PortGuard, nowMs: NowMs): HookServer {
  const table = createConnectionTable(nowMs);
  const containers = settings.hooks.map((hook) => hook.container);
  let waiting: Waiting[] = [];
  let lastId = 0;
  let refused = 0;

  const send = (socket: Socket, res: ServerResponse, status: number, body: string): void => {
    res.on("finish", () => {
      table.dismiss(socket);
    });
    res.writeHead(status, {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      connection: "close",
    });
    res.end(body);
  };

  const hold = (socket: Socket, res: ServerResponse, onLeft: (holdId: number) => void): number => {
    lastId = lastId + 1;
    const id = lastId;
    table.keep(socket);
    waiting.push({ id, res, socket });
    res.on("close", () => {
      if (!waiting.some((one) => one.id === id)) return;
      waiting = waiting.filter((one) => one.id !== id);
      onLeft(id);
    });
    return id;
  };

  const handle = (req: IncomingMessage, res: ServerResponse, calls: HookCalls): void => {
    const socket = req.socket;
    const peer = canonicalAddress(socket.remoteAddress ?? "");
    const local = isLocalCaller(peer, settings.addressScope);
    const route = routeOf({ method: req.method ?? "", url: req.url ?? "", local }, token, containers);
    // A body is of no interest, but unread it would keep the request open.
    req.on("data", () => {});
    switch (route.kind) {
      case "status":
        send(socket, res, 200, calls.status());
        return;
      case "prestop":
        calls.onHook(hold(socket, res, calls.onLeft), route.container, peer);
        return;
      case "drain":
        calls.onDrain(hold(socket, res, calls.onLeft));
        return;
      default:
        // Not every runtime leaves out the body of an answer to HEAD by itself.
        send(socket, res, 404, req.method === "HEAD" ? "" : NOT_FOUND);
    }
  };

  const open = (calls: HookCalls): void => {
    const server: Server = createServer((req, res) => {
      try {
        handle(req, res, calls);
      } catch {
        // One broken call must not take the others' holds with it.
        req.socket.destroy();
      }
    });
    // No time limit of the runtime's: after a stall it would cut callers whose request is there and was not yet read.
    server.on("connection", (socket: Socket) => {
      if (!guard.admits(socket)) {
        refused = refused + 1;
        socket.on("error", () => {});
        socket.destroy();
        return;
      }
      table.admit(socket, canonicalAddress(socket.remoteAddress ?? ""));
    });
    let listening = false;
    server.on("error", (error) => {
      // One connection that could not be accepted; the next ones can.
      if (listening) return;
      calls.onRefused(error.message);
      setTimeout(() => open(calls), RETRY_MS);
    });
    const onListening = (): void => {
      listening = true;
      guard.attach(server);
      calls.onListening();
    };
    if (settings.addressScope === "") server.listen(settings.port, onListening);
    else server.listen(settings.port, settings.addressScope, onListening);
  };

  return {
    open,
    answer: (holdId, body) => {
      const one = waiting.find((candidate) => candidate.id === holdId);
      if (one === undefined) return;
      waiting = waiting.filter((candidate) => candidate.id !== holdId);
      send(one.socket, one.res, 200, body);
    },
    accepted: () => table.accepted() + refused + guard.closed(),
  };
}

const NOT_FOUND = '{"error":"not found"}';
