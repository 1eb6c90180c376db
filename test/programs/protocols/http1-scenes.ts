/** HTTP/1.1: requests, kept connections, pipelining, long polls, uploads. Node's own server and client. */
import { Agent, createServer, get, request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { endings, LONG_MS, OFTEN_MS, type Place, type Play, pause, type Scene, SELDOM_MS } from "./scene.ts";
import { createStage, type Stage } from "./stage.ts";

const PROTOCOL = "HTTP/1.1";

export const HTTP1_SCENES: readonly Scene[] = [
  {
    protocol: PROTOCOL,
    client: "waits for the answer to its first request, and keeps the connection",
    play: (place) => oneRequest({ ...place, answerMs: LONG_MS, keeps: true }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for the answer to a later request on a kept connection",
    play: (place) => oneRequest({ ...place, answerMs: LONG_MS, keeps: true, earlier: true }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for an answer, and closes",
    play: (place) => oneRequest({ ...place, answerMs: LONG_MS, keeps: false }),
    endings: endings("quiet", "closed", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its answer, and never closes",
    play: async (place) => {
      const play = await oneRequest({ ...place, answerMs: 0, keeps: true });
      await pause(LONG_MS / 10);
      return play;
    },
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "connects, and never sends a byte",
    play: silentClient,
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "sends request after request on one connection, without end",
    play: (place) => endless({ ...place, answerMs: 0, pauseMs: OFTEN_MS }),
    endings: endings("deadline", "deadline", "cut", "quiet"),
  },
  {
    protocol: "HTTP/1.1 long poll",
    client: "asks again as soon as it is answered",
    play: (place) => endless({ ...place, answerMs: LONG_MS / 2, pauseMs: 0 }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: "HTTP/1.1 pipelining",
    client: "sent four requests at once; answers less than a quiet period apart",
    play: (place) => pipelined({ ...place, apartMs: LONG_MS / 4 }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: "HTTP/1.1 pipelining",
    client: "sent four requests at once; answers more than a quiet period apart",
    play: (place) => pipelined({ ...place, apartMs: SELDOM_MS }),
    endings: endings("cut", "deadline", "quiet", "quiet"),
  },
  {
    protocol: "HTTP/1.1 upload",
    client: "sends its body bit by bit, then gets its answer",
    play: upload,
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
];

type Served = { readonly stage: Stage; readonly sendAway: () => void };

/** Answers after `?ms=`, once the body is there; told to drain, it asks its clients to close. */
async function serve(address: string, port: number): Promise<Served> {
  const stage = createStage();
  let leaving = false;
  const server = createServer({ keepAliveTimeout: 120_000, requestTimeout: 0 }, (req, res: ServerResponse) => {
    const done = stage.begin();
    req.on("data", stage.note);
    res.on("finish", done);
    res.on("close", done);
    req.on("end", () => {
      const waitMs = Number(new URL(`http://x${req.url}`).searchParams.get("ms") ?? "0");
      const answer = () => {
        if (leaving) res.setHeader("Connection", "close");
        res.end("done");
      };
      // No timer for an immediate answer: what counts requests must never see one of these.
      if (waitMs === 0) answer();
      else setTimeout(answer, waitMs);
    });
  });
  await stage.open(server, address, port);
  // Idle connections are left alone: closing one races with the client's next request.
  const sendAway = () => {
    leaving = true;
  };
  return { stage, sendAway };
}

type Request = Place & { readonly answerMs: number };

/** @param of `earlier`: the connection has carried a request before, answered at once */
async function oneRequest(of: Request & { keeps: boolean; earlier?: boolean }): Promise<Play> {
  const { stage, sendAway } = await serve(of.address, of.port);
  const agent = new Agent({ keepAlive: of.keeps, maxSockets: 1 });
  const ask = async (ms: number) => {
    const sent = get({ host: of.address, port: of.port, path: `/?ms=${ms}`, agent }, (res) => res.resume());
    sent.on("error", () => {});
    await pause(OFTEN_MS);
  };
  if (of.earlier === true) await ask(0);
  await ask(of.answerMs);
  return stage.play({ sendAway, endClient: () => agent.destroy() });
}

/** A client that is asked to close goes elsewhere, as one behind a Service does. */
async function endless({ address, port, answerMs, pauseMs }: Request & { pauseMs: number }): Promise<Play> {
  const { stage, sendAway } = await serve(address, port);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let goes = true;
  const next = () => {
    if (!goes) return;
    const sent = get({ host: address, port, path: `/?ms=${answerMs}`, agent }, (res) => {
      if (res.headers.connection === "close") goes = false;
      res.resume().on("end", () => setTimeout(next, pauseMs));
    });
    sent.on("error", () => {});
  };
  next();
  await pause(OFTEN_MS);
  const endClient = () => {
    goes = false;
    agent.destroy();
  };
  return stage.play({ sendAway, endClient });
}

async function silentClient({ address, port }: Place): Promise<Play> {
  const { stage, sendAway } = await serve(address, port);
  const client = connect(port, address);
  client.on("error", () => {});
  await pause(OFTEN_MS);
  return stage.play({ sendAway, endClient: () => client.destroy() });
}

async function pipelined(of: Place & { apartMs: number }): Promise<Play> {
  const { stage, sendAway } = await serve(of.address, of.port);
  const client = connect(of.port, of.address);
  client.on("error", () => {}).resume();
  // The first answer leaves before the Pod is told to end: from then on the server has spoken last.
  const requests = [0, 1, 2, 3].map((n) => `GET /?ms=${n * of.apartMs} HTTP/1.1\r\nHost: x\r\n\r\n`);
  client.write(requests.join(""));
  await pause(OFTEN_MS);
  return stage.play({ sendAway, endClient: () => client.destroy() });
}

async function upload({ address, port }: Place): Promise<Play> {
  const { stage, sendAway } = await serve(address, port);
  const agent = new Agent({ keepAlive: true });
  const sent = request({ host: address, port, path: "/?ms=50", method: "POST", agent }, (res) => res.resume());
  sent.on("error", () => {});
  const untilMs = performance.now() + LONG_MS;
  stage.every(OFTEN_MS, () => {
    if (sent.writableEnded) return;
    if (performance.now() < untilMs) sent.write("a bit ");
    else sent.end();
  });
  await pause(OFTEN_MS);
  return stage.play({ sendAway, endClient: () => agent.destroy() });
}
