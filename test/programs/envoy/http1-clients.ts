/** Clients of HTTP/1.1 that tell apart how a request fails, and never repeat one. */
import { type HttpConnection, openConnection } from "../../../src/demo/load/http-client.ts";
import { createLoops } from "./client-loops.ts";
import type { Clients, Place } from "./scene.ts";
import { PROXY, UPSTREAM } from "./upstream-ports.ts";

export type Http1Load = {
  readonly clients: number;
  readonly paceMs: number;
  /** How long a client keeps its connection: 0 for one request, Infinity until it is sent away. */
  readonly livesMs: (client: number) => number;
};

const ANSWER_LIMIT_MS = 10_000;
/** How long the app works on a request. */
const WORK_PATH = "/5";

export function http1Load({ clients, paceMs, livesMs }: Http1Load): (place: Place) => Promise<Clients> {
  return (place) => {
    const loops = createLoops(place, paceMs);
    const client = (index: number) => {
      let connection: HttpConnection | undefined;
      let openedMs = 0;
      let toPod = true;
      return loops.loop(async () => {
        if (connection === undefined || !connection.isUsable() || place.clock.nowMs() - openedMs > livesMs(index)) {
          connection?.close();
          toPod = !loops.withdrawn();
          connection = open(place, toPod);
          openedMs = place.clock.nowMs();
        }
        const byPod = toPod;
        const { failure } = await connection.request(WORK_PATH, livesMs(index) > 0);
        return { failure: failure === undefined ? "" : `${failure}${byPod ? "" : " elsewhere"}`, byPod };
      });
    };
    return Promise.resolve(loops.of(Array.from({ length: clients }, (_, index) => client(index))));
  };
}

/** One request whose answer takes so long, begun as the Pod is told to end; its connection is kept. */
export function http1Request(ms: number): (place: Place) => Promise<Clients> {
  return async (place) => {
    const tally = { answered: 0, failures: [] as string[] };
    let lastMs = place.clock.nowMs();
    const connection = open(place, true, ms + ANSWER_LIMIT_MS);
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

function open(place: Place, toPod: boolean, timeoutMs = ANSWER_LIMIT_MS): HttpConnection {
  return openConnection({
    clock: place.clock,
    host: toPod ? place.pod : place.other,
    port: toPod ? PROXY.web : UPSTREAM.http1,
    localAddress: place.from,
    timeoutMs,
    wasRefused: () => false,
  });
}
