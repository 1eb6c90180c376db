/** Protocols without HTTP on plain sockets, and clients that have closed their half. */
import { connect, createServer, type Socket } from "node:net";
import { endings, LONG_MS, OFTEN_MS, type Place, type Play, pause, type Scene, SELDOM_MS } from "./scene.ts";
import { createStage, type Stage } from "./stage.ts";

const PROTOCOL = "raw TCP";
const HALF_CLOSED = "half-closed client";

export const TCP_SCENES: readonly Scene[] = [
  {
    protocol: HALF_CLOSED,
    client: "has sent its request and its end, and waits for the answer",
    play: halfClosed,
    endings: endings("quiet", "closed", "quiet", "quiet"),
  },
  {
    protocol: HALF_CLOSED,
    client: "has its answer and has sent its end; the server never closes",
    play: (place) => talk({ ...place, answer: "at once", first: "question", ends: true }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its answer, and keeps the connection",
    play: (place) => talk({ ...place, answer: "at once", first: "question" }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has sent something that is never answered",
    play: (place) => talk({ ...place, answer: "never", first: "notice" }),
    endings: endings("deadline", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "sends a stream without answers",
    play: (place) => talk({ ...place, answer: "never", first: "start", sendsMs: OFTEN_MS }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has subscribed; the server sends more than a quiet period apart",
    play: (place) => talk({ ...place, answer: "at once", first: "subscribe", pushesMs: SELDOM_MS }),
    endings: endings("cut", "deadline", "deadline", "quiet"),
  },
];

type Talk = Place & {
  readonly answer: "at once" | "never";
  readonly first: string;
  /** The client closes its half once it is answered. */
  readonly ends?: boolean;
  /** The client sends so often; the app counts the session as work, as it does with the next one. */
  readonly sendsMs?: number;
  /** The server sends so often. */
  readonly pushesMs?: number;
};

/** Told to drain, the app closes its connections: its protocol has no other farewell. */
async function talk(of: Talk): Promise<Play> {
  const stage = createStage();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (of.pushesMs !== undefined || of.sendsMs !== undefined) socket.on("close", stage.begin());
    socket.on("data", () => {
      stage.note();
      if (of.answer === "at once") socket.write("answer");
    });
  });
  await stage.open(server, of.address, of.port);
  const client = clientOf(of.address, of.port);
  client.on("data", () => {
    if (of.ends === true) client.end();
  });
  client.write(of.first);
  if (of.sendsMs !== undefined) stage.every(of.sendsMs, () => client.writable && client.write("more"));
  if (of.pushesMs !== undefined) {
    stage.every(of.pushesMs, () => {
      for (const socket of stage.sockets()) socket.write("news", stage.note);
    });
  }
  await pause(OFTEN_MS);
  return stage.play({ sendAway: () => farewell(stage), endClient: () => client.destroy() });
}

async function halfClosed({ address, port }: Place): Promise<Play> {
  const stage = createStage();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.once("data", () => {
      const done = stage.begin();
      setTimeout(() => socket.end("answer", done), LONG_MS);
    });
  });
  await stage.open(server, address, port);
  const client = clientOf(address, port);
  client.end("question");
  await pause(OFTEN_MS);
  return stage.play({ endClient: () => client.destroy() });
}

function clientOf(address: string, port: number): Socket {
  const client = connect({ host: address, port, allowHalfOpen: true });
  // Closes when the server does, and not before.
  client.on("end", () => client.end());
  client.on("error", () => client.destroy());
  return client;
}

function farewell(stage: Stage): void {
  for (const socket of stage.sockets()) socket.end();
}
