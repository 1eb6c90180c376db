/**
 * Defines the scenarios of HTTP/1.1 with Node's server and client: requests, keep-alive connections, pipelining, long polls and
 * uploads.
 */
import { Agent, createServer, get, request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import {
  endings,
  LONG_INTERVAL_MS,
  LONG_REQUEST_MS,
  pause,
  type RunningScenario,
  type Scenario,
  type ServerAddress,
  SHORT_INTERVAL_MS,
} from "./protocol-scenario.ts";
import { createServerActivity, type ServerActivity } from "./server-activity.ts";

const PROTOCOL = "HTTP/1.1";

export const HTTP1_SCENARIOS: readonly Scenario[] = [
  {
    protocol: PROTOCOL,
    behaviour: "waits for the response to its first request, and keeps the connection",
    start: (serverAddress) => startRequest({ ...serverAddress, responseDelayMs: LONG_REQUEST_MS, keepAlive: true }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "waits for the response to a later request on a keep-alive connection",
    start: (serverAddress) =>
      startRequest({ ...serverAddress, responseDelayMs: LONG_REQUEST_MS, keepAlive: true, hasEarlierRequest: true }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "waits for a response, and closes",
    start: (serverAddress) => startRequest({ ...serverAddress, responseDelayMs: LONG_REQUEST_MS, keepAlive: false }),
    endings: endings("quiet", "closed", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "has its response, and never closes",
    start: async (serverAddress) => {
      const runningScenario = await startRequest({ ...serverAddress, responseDelayMs: 0, keepAlive: true });
      await pause(LONG_REQUEST_MS / 10);
      return runningScenario;
    },
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "connects, and never sends a byte",
    start: startSilentClient,
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "sends requests on one connection without end",
    start: (serverAddress) =>
      startEndlessRequests({ ...serverAddress, responseDelayMs: 0, pauseMs: SHORT_INTERVAL_MS }),
    endings: endings("deadline", "deadline", "cut", "quiet"),
  },
  {
    protocol: "HTTP/1.1 long poll",
    behaviour: "sends the next poll immediately after each response",
    start: (serverAddress) =>
      startEndlessRequests({ ...serverAddress, responseDelayMs: LONG_REQUEST_MS / 2, pauseMs: 0 }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: "HTTP/1.1 pipelining",
    behaviour: "sent four pipelined requests, whose responses are less than a quiet period apart",
    start: (serverAddress) => startPipelinedRequests({ ...serverAddress, intervalMs: LONG_REQUEST_MS / 4 }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: "HTTP/1.1 pipelining",
    behaviour: "sent four pipelined requests, whose responses are more than a quiet period apart",
    start: (server) => startPipelinedRequests({ ...server, intervalMs: LONG_INTERVAL_MS }),
    endings: endings("cut", "deadline", "quiet", "quiet"),
  },
  {
    protocol: "HTTP/1.1 upload",
    behaviour: "sends its body slowly, then gets its response",
    start: startUpload,
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
];

type RunningServer = { readonly activity: ServerActivity; readonly startDrain: () => void };

/** Responds `?ms=` milliseconds after the end of the request body. During a drain the response contains `Connection: close`. */
async function startServer(address: string, port: number): Promise<RunningServer> {
  const activity = createServerActivity();
  let isDraining = false;
  const server = createServer({ keepAliveTimeout: 120_000, requestTimeout: 0 }, (req, res: ServerResponse) => {
    const endRequest = activity.beginRequest();
    req.on("data", activity.recordTraffic);
    res.on("finish", endRequest);
    res.on("close", endRequest);
    req.on("end", () => {
      const responseDelayMs = Number(new URL(`http://x${req.url}`).searchParams.get("ms") ?? "0");
      const respond = () => {
        if (isDraining) res.setHeader("Connection", "close");
        res.end("done");
      };
      // With a timer, even of 0 ms, a read of `active-url` could count a request that gets an immediate response.
      if (responseDelayMs === 0) respond();
      else setTimeout(respond, responseDelayMs);
    });
  });
  await activity.listen(server, address, port);
  // Idle connections stay open: closing an idle connection would race with the client's next request.
  const startDrain = () => {
    isDraining = true;
  };
  return { activity, startDrain };
}

type RequestOptions = ServerAddress & { readonly responseDelayMs: number };

/** @param options `hasEarlierRequest`: first sends another request on the same connection, which gets an immediate response */
async function startRequest(
  options: RequestOptions & { keepAlive: boolean; hasEarlierRequest?: boolean },
): Promise<RunningScenario> {
  const { activity, startDrain } = await startServer(options.address, options.port);
  const agent = new Agent({ keepAlive: options.keepAlive, maxSockets: 1 });
  const send = async (ms: number) => {
    const outgoing = get({ host: options.address, port: options.port, path: `/?ms=${ms}`, agent }, (res) =>
      res.resume(),
    );
    outgoing.on("error", () => {});
    await pause(SHORT_INTERVAL_MS);
  };
  if (options.hasEarlierRequest === true) await send(0);
  await send(options.responseDelayMs);
  return activity.toRunningScenario({ startDrain, closeClient: () => agent.destroy() });
}

/** After `Connection: close` the client stops, because its next connection would reach another Pod. */
async function startEndlessRequests({
  address,
  port,
  responseDelayMs,
  pauseMs,
}: RequestOptions & { pauseMs: number }): Promise<RunningScenario> {
  const { activity, startDrain } = await startServer(address, port);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isSending = true;
  const sendNext = () => {
    if (!isSending) return;
    const outgoing = get({ host: address, port, path: `/?ms=${responseDelayMs}`, agent }, (res) => {
      if (res.headers.connection === "close") isSending = false;
      res.resume().on("end", () => setTimeout(sendNext, pauseMs));
    });
    outgoing.on("error", () => {});
  };
  sendNext();
  await pause(SHORT_INTERVAL_MS);
  const closeClient = () => {
    isSending = false;
    agent.destroy();
  };
  return activity.toRunningScenario({ startDrain, closeClient });
}

async function startSilentClient({ address, port }: ServerAddress): Promise<RunningScenario> {
  const { activity, startDrain } = await startServer(address, port);
  const client = connect(port, address);
  client.on("error", () => {});
  await pause(SHORT_INTERVAL_MS);
  return activity.toRunningScenario({ startDrain, closeClient: () => client.destroy() });
}

async function startPipelinedRequests(options: ServerAddress & { intervalMs: number }): Promise<RunningScenario> {
  const { activity, startDrain } = await startServer(options.address, options.port);
  const client = connect(options.port, options.address);
  client.on("error", () => {}).resume();
  // The server sends the first response before the drain starts, so the last byte comes from the server.
  const requests = [0, 1, 2, 3].map((n) => `GET /?ms=${n * options.intervalMs} HTTP/1.1\r\nHost: x\r\n\r\n`);
  client.write(requests.join(""));
  await pause(SHORT_INTERVAL_MS);
  return activity.toRunningScenario({ startDrain, closeClient: () => client.destroy() });
}

async function startUpload({ address, port }: ServerAddress): Promise<RunningScenario> {
  const { activity, startDrain } = await startServer(address, port);
  const agent = new Agent({ keepAlive: true });
  const outgoing = request({ host: address, port, path: "/?ms=50", method: "POST", agent }, (res) => res.resume());
  outgoing.on("error", () => {});
  const untilMs = performance.now() + LONG_REQUEST_MS;
  activity.repeatEvery(SHORT_INTERVAL_MS, () => {
    if (outgoing.writableEnded) return;
    if (performance.now() < untilMs) outgoing.write("a bit ");
    else outgoing.end();
  });
  await pause(SHORT_INTERVAL_MS);
  return activity.toRunningScenario({ startDrain, closeClient: () => agent.destroy() });
}
