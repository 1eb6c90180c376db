/** HTTP/1.1 with Node's server and client: requests, kept-alive connections, pipelining, long polls and uploads. */
import { Agent, createServer, get, request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import {
  endings,
  LONG_MS,
  OFTEN_MS,
  type Place,
  pause,
  type RunningScenario,
  type Scenario,
  SELDOM_MS,
} from "./protocol-scenario.ts";
import { createServerActivity, type ServerActivity } from "./server-activity.ts";

const PROTOCOL = "HTTP/1.1";

export const HTTP1_SCENARIOS: readonly Scenario[] = [
  {
    protocol: PROTOCOL,
    client: "waits for the response to its first request, and keeps the connection",
    start: (place) => oneRequest({ ...place, answerMs: LONG_MS, keeps: true }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for the response to a later request on a kept-alive connection",
    start: (place) => oneRequest({ ...place, answerMs: LONG_MS, keeps: true, earlier: true }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for a response, and closes",
    start: (place) => oneRequest({ ...place, answerMs: LONG_MS, keeps: false }),
    endings: endings("quiet", "closed", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its response, and never closes",
    start: async (place) => {
      const running = await oneRequest({ ...place, answerMs: 0, keeps: true });
      await pause(LONG_MS / 10);
      return running;
    },
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "connects, and never sends a byte",
    start: silentClient,
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "sends requests on one connection without end",
    start: (place) => endless({ ...place, answerMs: 0, pauseMs: OFTEN_MS }),
    endings: endings("deadline", "deadline", "cut", "quiet"),
  },
  {
    protocol: "HTTP/1.1 long poll",
    client: "sends the next poll immediately after each response",
    start: (place) => endless({ ...place, answerMs: LONG_MS / 2, pauseMs: 0 }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: "HTTP/1.1 pipelining",
    client: "sent four requests at once; responses less than a quiet period apart",
    start: (place) => pipelined({ ...place, apartMs: LONG_MS / 4 }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: "HTTP/1.1 pipelining",
    client: "sent four requests at once; responses more than a quiet period apart",
    start: (place) => pipelined({ ...place, apartMs: SELDOM_MS }),
    endings: endings("cut", "deadline", "quiet", "quiet"),
  },
  {
    protocol: "HTTP/1.1 upload",
    client: "sends its body slowly, then gets its response",
    start: upload,
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
];

type Served = { readonly activity: ServerActivity; readonly startDrain: () => void };

/** Answers `?ms=` milliseconds after the end of the body; during a drain with `Connection: close`. */
async function serve(address: string, port: number): Promise<Served> {
  const activity = createServerActivity();
  let draining = false;
  const server = createServer({ keepAliveTimeout: 120_000, requestTimeout: 0 }, (req, res: ServerResponse) => {
    const done = activity.startWork();
    req.on("data", activity.recordTraffic);
    res.on("finish", done);
    res.on("close", done);
    req.on("end", () => {
      const waitMs = Number(new URL(`http://x${req.url}`).searchParams.get("ms") ?? "0");
      const answer = () => {
        if (draining) res.setHeader("Connection", "close");
        res.end("done");
      };
      // Without a timer, so that a sample of `active-url` never counts an immediate answer.
      if (waitMs === 0) answer();
      else setTimeout(answer, waitMs);
    });
  });
  await activity.listen(server, address, port);
  // Idle connections stay open: closing one would race with the client's next request.
  const startDrain = () => {
    draining = true;
  };
  return { activity, startDrain };
}

type Request = Place & { readonly answerMs: number };

/** @param of with `earlier` the connection has carried one request before, answered at once */
async function oneRequest(of: Request & { keeps: boolean; earlier?: boolean }): Promise<RunningScenario> {
  const { activity, startDrain } = await serve(of.address, of.port);
  const agent = new Agent({ keepAlive: of.keeps, maxSockets: 1 });
  const send = async (ms: number) => {
    const sent = get({ host: of.address, port: of.port, path: `/?ms=${ms}`, agent }, (res) => res.resume());
    sent.on("error", () => {});
    await pause(OFTEN_MS);
  };
  if (of.earlier === true) await send(0);
  await send(of.answerMs);
  return activity.running({ startDrain, closeClient: () => agent.destroy() });
}

/** After `Connection: close` the client sends nothing more here, as its next connection would reach another Pod. */
async function endless({ address, port, answerMs, pauseMs }: Request & { pauseMs: number }): Promise<RunningScenario> {
  const { activity, startDrain } = await serve(address, port);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let sending = true;
  const next = () => {
    if (!sending) return;
    const sent = get({ host: address, port, path: `/?ms=${answerMs}`, agent }, (res) => {
      if (res.headers.connection === "close") sending = false;
      res.resume().on("end", () => setTimeout(next, pauseMs));
    });
    sent.on("error", () => {});
  };
  next();
  await pause(OFTEN_MS);
  const closeClient = () => {
    sending = false;
    agent.destroy();
  };
  return activity.running({ startDrain, closeClient });
}

async function silentClient({ address, port }: Place): Promise<RunningScenario> {
  const { activity, startDrain } = await serve(address, port);
  const client = connect(port, address);
  client.on("error", () => {});
  await pause(OFTEN_MS);
  return activity.running({ startDrain, closeClient: () => client.destroy() });
}

async function pipelined(of: Place & { apartMs: number }): Promise<RunningScenario> {
  const { activity, startDrain } = await serve(of.address, of.port);
  const client = connect(of.port, of.address);
  client.on("error", () => {}).resume();
  // The first answer is sent before the drain starts, so the server has sent last.
  const requests = [0, 1, 2, 3].map((n) => `GET /?ms=${n * of.apartMs} HTTP/1.1\r\nHost: x\r\n\r\n`);
  client.write(requests.join(""));
  await pause(OFTEN_MS);
  return activity.running({ startDrain, closeClient: () => client.destroy() });
}

async function upload({ address, port }: Place): Promise<RunningScenario> {
  const { activity, startDrain } = await serve(address, port);
  const agent = new Agent({ keepAlive: true });
  const sent = request({ host: address, port, path: "/?ms=50", method: "POST", agent }, (res) => res.resume());
  sent.on("error", () => {});
  const untilMs = performance.now() + LONG_MS;
  activity.every(OFTEN_MS, () => {
    if (sent.writableEnded) return;
    if (performance.now() < untilMs) sent.write("a bit ");
    else sent.end();
  });
  await pause(OFTEN_MS);
  return activity.running({ startDrain, closeClient: () => agent.destroy() });
}
