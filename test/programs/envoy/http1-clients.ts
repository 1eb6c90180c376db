/** Clients of HTTP/1.1 that tell apart how a request fails, and never repeat one. */
import { type HttpConnection, openConnection } from "../../../src/demo/load/http-client.ts";
import { createLoops } from "./client-loops.ts";
import type { Clients, Place } from "./scene.ts";
import { PROXY, UPSTREAM } from "./upstream-ports.ts";

type Http1Load = {
  readonly clients: number;
  readonly paceMs: number;
  /** How long a client keeps its connection: 0 for one request, Infinity until it is sent away. */
  readonly livesMs: (client: number) => number;
  /** Of the Pod; where it is not the app's no one else is asked. */
  readonly port?: number;
  readonly path?: string;
};

const ANSWER_LIMIT_MS = 10_000;
/** How long the app works on a request. */
const WORK_PATH = "/5";

export function http1Load(load: Http1Load): (place: Place) => Promise<Clients> {
  return (place) => {
    const loops = createLoops(place, load.paceMs);
    const client = (livesMs: number) => {
      const connections = createRenewal(place, load, livesMs);
      return loops.loop(async () => {
        const { connection, byPod } = connections.current(loops.withdrawn());
        const { failure = "" } = await connection.request(load.path ?? WORK_PATH, livesMs > 0);
        return { failure: failure === "" || byPod ? failure : `${failure} elsewhere`, byPod };
      });
    };
    const clients = Array.from({ length: load.clients }, (_, index) => client(load.livesMs(index)));
    return Promise.resolve(loops.of(clients));
  };
}

type Current = { readonly connection: HttpConnection; readonly byPod: boolean };

/** The connection of one client: the same until it is too old or the server wants no more of it. */
function createRenewal(place: Place, { port = PROXY.web }: Http1Load, livesMs: number) {
  let current: Current | undefined;
  let openedMs = 0;
  return {
    current: (withdrawn: boolean): Current => {
      const nowMs = place.clock.nowMs();
      if (current?.connection.isUsable() === true && nowMs - openedMs <= livesMs) return current;
      current?.connection.close();
      openedMs = nowMs;
      const connection = withdrawn ? open(place, place.other, UPSTREAM.http1) : open(place, place.pod, port);
      current = { connection, byPod: !withdrawn };
      return current;
    },
  };
}

/** One request whose answer takes so long, begun as the Pod is told to end; its connection is kept. */
export function http1Request(ms: number): (place: Place) => Promise<Clients> {
  return async (place) => {
    const tally = { answered: 0, failures: [] as string[] };
    let lastMs = place.clock.nowMs();
    const connection = open(place, place.pod, PROXY.web, ms + ANSWER_LIMIT_MS);
    const asked = connection.request(`/${ms}`, true).then(({ failure }) => {
      if (failure === undefined) tally.answered += 1;
      else tally.failures.push(failure);
      lastMs = place.clock.nowMs();
    });
    // An answer that comes at once has to be there before the Pod is told to end.
    if (ms < 1_000) await asked;
    return {
      tally,
      lastMs: () => lastMs,
      withdraw: () => {},
      stop: async () => {
        await asked;
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
    localAddress: place.from,
    timeoutMs,
    wasRefused: () => false,
  });
}
