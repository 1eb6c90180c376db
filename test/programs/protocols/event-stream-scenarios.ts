/** Defines the scenarios of server-sent events: a response that never ends. */
import { createServer, get, type ServerResponse } from "node:http";
import {
  endings,
  LONG_INTERVAL_MS,
  pause,
  type RunningScenario,
  type Scenario,
  type ServerAddress,
  SHORT_INTERVAL_MS,
} from "./protocol-scenario.ts";
import { createServerActivity } from "./server-activity.ts";

const PROTOCOL = "server-sent events";

export const EVENT_STREAM_SCENARIOS: readonly Scenario[] = [
  {
    protocol: PROTOCOL,
    behaviour: "reads events less than a quiet period apart",
    start: (serverAddress) => startStream(serverAddress, SHORT_INTERVAL_MS),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "reads events more than a quiet period apart",
    start: (serverAddress) => startStream(serverAddress, LONG_INTERVAL_MS),
    endings: endings("cut", "deadline", "deadline", "quiet"),
  },
];

/** When a drain starts, the app ends its streams; EventSource clients would reconnect to another Pod. */
async function startStream({ address, port }: ServerAddress, everyMs: number): Promise<RunningScenario> {
  const activity = createServerActivity();
  const streams = new Set<ServerResponse>();
  const server = createServer((_, res) => {
    const endRequest = activity.beginRequest();
    streams.add(res);
    res.on("close", () => {
      streams.delete(res);
      endRequest();
    });
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    res.write("data: first\n\n");
  });
  await activity.listen(server, address, port);
  activity.repeatEvery(everyMs, () => {
    for (const stream of streams) stream.write("data: next\n\n", activity.recordTraffic);
  });
  const client = get({ host: address, port, agent: false }, (res) => res.on("error", () => {}).resume());
  client.on("error", () => {});
  await pause(SHORT_INTERVAL_MS);
  const startDrain = () => {
    for (const stream of streams) stream.end();
  };
  return activity.toRunningScenario({ startDrain, closeClient: () => client.destroy() });
}
