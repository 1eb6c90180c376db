/** HTTP/1.1 clients that classify failed requests and never retry one. */
import { type HttpConnection, openConnection } from "../../../src/demo/load/http-client.ts";
import type { Clients, Place } from "./envoy-scenario.ts";
import { createRequestLoops } from "./request-loops.ts";
import { PROXY, UPSTREAM } from "./upstream-ports.ts";

type Http1Load = {
  readonly clients: number;
  readonly paceMs: number;
  /** Lifetime of each connection: 0 for one request, Infinity until the server closes it. */
  readonly livesMs: (client: number) => number;
  readonly port?: number;
  readonly path?: string;
};

const ANSWER_LIMIT_MS = 10_000;
const WORK_PATH = "/5";

export function http1Load(load: Http1Load): (place: Place) => Promise<Clients> {
  return (place) => {
    const loops = createRequestLoops(place, load.paceMs);
    const client = (livesMs: number) => {
      const connections = createKeptConnection(place, load, livesMs);
      return loops.loop(async () => {
        const { connection, byPod } = connections.current(loops.withdrawn());
        const { failure = "" } = await connection.request(load.path ?? WORK_PATH, livesMs > 0);
        return { failure: failure === "" || byPod ? failure : `${failure} elsewhere`, byPod };
      });
    };
    const clients = Array.from({ length: load.clients }, (_, index) => client(load.livesMs(index)));
    return Promise.resolve(loops.clientsOf(clients));
  };
}

type Current = { readonly connection: HttpConnection; readonly byPod: boolean };

/** Keeps the connection of one client; replaces it at the end of its lifetime or when the server closes it. */
function createKeptConnection(place: Place, { port = PROXY.web }: Http1Load, livesMs: number) {
  let current: Current | undefined;
  let openedMs = 0;
  return {
    current: (withdrawn: boolean): Current => {
      const nowMs = place.clock.nowMs();
      if (current?.connection.isUsable() === true && nowMs - openedMs <= livesMs) return current;
      current?.connection.close();
      openedMs = nowMs;
      const connection = withdrawn ? open(place, place.upstream, UPSTREAM.http1) : open(place, place.pod, port);
      current = { connection, byPod: !withdrawn };
      return current;
    },
  };
}

/** One request that is in flight when the Pod is deleted and takes `ms`; its connection is kept. */
export function http1Request(ms: number): (place: Place) => Promise<Clients> {
  return async (place) => {
    const counts = { answered: 0, failures: [] as string[] };
    let lastTrafficMs = place.clock.nowMs();
    const connection = open(place, place.pod, PROXY.web, ms + ANSWER_LIMIT_MS);
    const answered = connection.request(`/${ms}`, true).then(({ failure }) => {
      if (failure === undefined) counts.answered += 1;
      else counts.failures.push(failure);
      lastTrafficMs = place.clock.nowMs();
    });
    // A short request leaves an idle connection, so its answer has to arrive before the Pod is deleted.
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

function open(place: Place, host: string, port: number, timeoutMs = ANSWER_LIMIT_MS): HttpConnection {
  return openConnection({
    clock: place.clock,
    host,
    port,
    localAddress: place.sourceAddress,
    timeoutMs,
    wasRefused: () => false,
  });
}
