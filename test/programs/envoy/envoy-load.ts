/**
 * Clients that never leave by themselves: each asks again on its kept connection until it is told to go. New connections
 * reach the Pod until the endpoint's withdrawal is known, and another one after that. Nobody asks twice.
 */
import { Agent, request } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { pause } from "../../manager/manager-process.ts";
import { HTTP_PORT } from "./envoy-config.ts";

export type Tally = {
  answered: number;
  failures: string[];
  /** When the Pod last answered anybody. */
  lastMs: number;
};

export type Load = { readonly tally: Tally; readonly withdraw: () => void; readonly stop: () => Promise<void> };

type Places = { readonly address: string; readonly otherPort: number };

/** One closed loop asks about 40 times a second. */
const PAUSE_MS = 20;

export function startHttp1Load(places: Places, clients: number): Load {
  const load = createLoad();
  const loops = Array.from({ length: clients }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agent.createConnection = () => (load.withdrawn() ? toOther(places) : toPod(places));
    while (load.runs()) {
      await load.one(() => askHttp1(agent));
      await pause(PAUSE_MS);
    }
    agent.destroy();
  });
  return load.of(loops);
}

export function startHttp2Load(places: Places, clients: number, loopsEach: number): Load {
  const load = createLoad();
  const loops = Array.from({ length: clients }, () => {
    let session: ClientHttp2Session | undefined;
    const open = (): ClientHttp2Session | undefined => {
      if (session !== undefined && !session.closed && !session.destroyed) return session;
      // The other Pod speaks no HTTP/2 here; whoever was sent away in good order has done his part.
      if (load.withdrawn()) return undefined;
      session = connectHttp2(`http://${places.address}:${HTTP_PORT}`);
      session.on("error", () => undefined);
      return session;
    };
    const loop = async () => {
      while (load.runs()) {
        const now = open();
        if (now === undefined) break;
        await load.one(() => askHttp2(now));
        await pause(PAUSE_MS);
      }
    };
    return Promise.all(Array.from({ length: loopsEach }, loop)).then(() => session?.destroy());
  });
  return load.of(loops);
}

type Asked = { readonly failure: string; readonly byPod: boolean };

function createLoad() {
  const tally: Tally = { answered: 0, failures: [], lastMs: performance.now() };
  let runs = true;
  let withdrawn = false;
  return {
    runs: () => runs,
    withdrawn: () => withdrawn,
    one: async (ask: () => Promise<Asked>) => {
      const { failure, byPod } = await ask();
      if (failure === "") tally.answered += 1;
      else tally.failures.push(failure);
      if (byPod) tally.lastMs = performance.now();
    },
    of: (loops: readonly Promise<unknown>[]): Load => ({
      tally,
      withdraw: () => {
        withdrawn = true;
      },
      stop: async () => {
        runs = false;
        await Promise.all(loops);
      },
    }),
  };
}

function toPod(places: Places) {
  return connect({ host: places.address, port: HTTP_PORT });
}

function toOther(places: Places) {
  return connect({ host: "127.0.0.1", port: places.otherPort });
}

function askHttp1(agent: Agent): Promise<Asked> {
  return new Promise((done) => {
    const sent = request({ agent, host: "pod.test", path: "/5" }, (res) => {
      // Only a proxy names itself.
      const byPod = res.headers["server"] === "envoy";
      res.resume();
      res.on("end", () => done({ failure: res.statusCode === 200 ? "" : `status ${res.statusCode}`, byPod }));
      res.on("error", (error) => done({ failure: error.message, byPod }));
    });
    sent.on("error", (error) => done({ failure: error.message, byPod: false }));
    sent.end();
  });
}

function askHttp2(session: ClientHttp2Session): Promise<Asked> {
  return new Promise((done) => {
    const stream = session.request({ ":path": "/5" });
    let status = 0;
    stream.on("response", (headers) => {
      status = Number(headers[":status"]);
    });
    stream.on("error", (error) => done({ failure: error.message, byPod: true }));
    stream.on("close", () => done({ failure: status === 200 ? "" : `status ${status}`, byPod: true }));
    stream.resume();
    stream.end();
  });
}
