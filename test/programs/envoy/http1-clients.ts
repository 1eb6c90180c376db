/** HTTP/1.1 clients that classify failed requests and never retry one. */
import { type HttpConnection, openConnection } from "../../../src/demo/load/http-client.ts";
import type { ClientEnvironment, Clients } from "./envoy-scenario.ts";
import { createRequestLoops } from "./request-loops.ts";
import { PROXY_PORTS, UPSTREAM_PORTS } from "./upstream-ports.ts";

type Http1Load = {
  readonly clients: number;
  readonly paceMs: number;
  /** Lifetime of each connection: 0 for one request, Infinity until the server closes it. */
  readonly lifetimeMs: (client: number) => number;
  readonly port?: number;
  readonly path?: string;
};

const ANSWER_LIMIT_MS = 10_000;
const FIVE_MS_PATH = "/5";

export function http1Load(load: Http1Load): (target: ClientEnvironment) => Promise<Clients> {
  return (target) => {
    const loops = createRequestLoops(target, load.paceMs);
    const client = (lifetimeMs: number) => {
      const connections = createClientConnection(target, load, lifetimeMs);
      return loops.loop(async () => {
        const { connection, byPod } = connections.current(loops.withdrawn());
        const { failure = "" } = await connection.request(load.path ?? FIVE_MS_PATH, lifetimeMs > 0);
        return { failure: failure === "" || byPod ? failure : `${failure} at the upstream`, byPod };
      });
    };
    const clients = Array.from({ length: load.clients }, (_, index) => client(load.lifetimeMs(index)));
    return Promise.resolve(loops.clientsOf(clients));
  };
}

type OpenConnection = { readonly connection: HttpConnection; readonly byPod: boolean };

/** Provides one client's connection, and reconnects at the end of its lifetime or after the server has closed it. */
function createClientConnection(target: ClientEnvironment, { port = PROXY_PORTS.web }: Http1Load, lifetimeMs: number) {
  let current: OpenConnection | undefined;
  let openedMs = 0;
  return {
    current: (withdrawn: boolean): OpenConnection => {
      const nowMs = target.clock.nowMs();
      if (current?.connection.isUsable() === true && nowMs - openedMs <= lifetimeMs) return current;
      current?.connection.close();
      openedMs = nowMs;
      const connection = withdrawn
        ? connectTo(target, target.upstream, UPSTREAM_PORTS.http1)
        : connectTo(target, target.pod, port);
      current = { connection, byPod: !withdrawn };
      return current;
    },
  };
}

/** Sends one request whose response takes `ms` milliseconds, on a kept-alive connection. */
export function http1Request(ms: number): (target: ClientEnvironment) => Promise<Clients> {
  return async (target) => {
    const counts = { answered: 0, failures: [] as string[] };
    let lastTrafficMs = target.clock.nowMs();
    const connection = connectTo(target, target.pod, PROXY_PORTS.web, ms + ANSWER_LIMIT_MS);
    const answered = connection.request(`/${ms}`, true).then(({ failure }) => {
      if (failure === undefined) counts.answered += 1;
      else counts.failures.push(failure);
      lastTrafficMs = target.clock.nowMs();
    });
    // A scenario with a short request tests an idle connection, so the response has to arrive before the Pod is deleted.
    if (ms < 1_000) await answered;
    return {
      counts,
      lastTrafficMs: () => lastTrafficMs,
      withdraw: () => {},
      stop: async () => {
        await answered;
        connection.close();
      },
    };
  };
}

function connectTo(target: ClientEnvironment, host: string, port: number, timeoutMs = ANSWER_LIMIT_MS): HttpConnection {
  return openConnection({
    clock: target.clock,
    host,
    port,
    localAddress: target.sourceAddress,
    timeoutMs,
    wasRefused: () => false,
  });
}
