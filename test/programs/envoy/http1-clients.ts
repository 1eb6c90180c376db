/** Runs HTTP/1.1 clients that classify failed requests and do not retry them. */
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

const RESPONSE_LIMIT_MS = 10_000;
const FIVE_MS_PATH = "/5";

export function http1Load(load: Http1Load): (environment: ClientEnvironment) => Promise<Clients> {
  return (environment) => {
    const loops = createRequestLoops(environment, load.paceMs);
    const runClient = (lifetimeMs: number) => {
      const connections = createClientConnection(environment, load, lifetimeMs);
      return loops.runLoop(async () => {
        const { connection, isToPod } = connections.current(loops.isWithdrawn());
        const { failure = "" } = await connection.request(load.path ?? FIVE_MS_PATH, lifetimeMs > 0);
        return { failure: failure === "" || isToPod ? failure : `${failure} at the upstream`, isToPod };
      });
    };
    const clients = Array.from({ length: load.clients }, (_, index) => runClient(load.lifetimeMs(index)));
    return Promise.resolve(loops.clientsOf(clients));
  };
}

type OpenConnection = { readonly connection: HttpConnection; readonly isToPod: boolean };

/** Provides one client's connection, and reconnects at the end of its lifetime or after the server has closed it. */
function createClientConnection(
  environment: ClientEnvironment,
  { port = PROXY_PORTS.web }: Http1Load,
  lifetimeMs: number,
) {
  let current: OpenConnection | undefined;
  let openedMs = 0;
  return {
    current: (isWithdrawn: boolean): OpenConnection => {
      const nowMs = environment.clock.nowMs();
      if (current?.connection.isUsable() === true && nowMs - openedMs <= lifetimeMs) return current;
      current?.connection.close();
      openedMs = nowMs;
      const connection = isWithdrawn
        ? connectTo(environment, environment.upstream, UPSTREAM_PORTS.http1)
        : connectTo(environment, environment.pod, port);
      current = { connection, isToPod: !isWithdrawn };
      return current;
    },
  };
}

/** Sends one request whose response takes `ms` milliseconds, on a kept-alive connection. */
export function http1Request(ms: number): (environment: ClientEnvironment) => Promise<Clients> {
  return async (environment) => {
    const counts = { answered: 0, failures: [] as string[] };
    let lastTrafficMs = environment.clock.nowMs();
    const connection = connectTo(environment, environment.pod, PROXY_PORTS.web, ms + RESPONSE_LIMIT_MS);
    const response = connection.request(`/${ms}`, true).then(({ failure }) => {
      if (failure === undefined) counts.answered += 1;
      else counts.failures.push(failure);
      lastTrafficMs = environment.clock.nowMs();
    });
    // A scenario with a short request tests an idle connection, so the response has to arrive before the Pod is deleted.
    if (ms < 1_000) await response;
    return {
      counts,
      lastTrafficMs: () => lastTrafficMs,
      withdraw: () => {},
      stop: async () => {
        await response;
        connection.close();
      },
    };
  };
}

function connectTo(
  environment: ClientEnvironment,
  host: string,
  port: number,
  timeoutMs = RESPONSE_LIMIT_MS,
): HttpConnection {
  return openConnection({
    clock: environment.clock,
    host,
    port,
    localAddress: environment.sourceAddress,
    timeoutMs,
    wasRefused: () => false,
  });
}
