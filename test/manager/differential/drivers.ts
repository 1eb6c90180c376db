/** Scenarios of the http driver, of drivers that the build does not contain, and of the containers' original hooks. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Manager } from "../manager-process.ts";
import { ONE_APP, type Scenario, terminatePod } from "./scenario.ts";
import type { SimulatedPod } from "./simulated-pod.ts";

type RequestHandler = (req: IncomingMessage, res: ServerResponse) => void;

/** Starts an app that records each request and then calls `respond`. */
async function startRecordingApp(pod: SimulatedPod, respond: RequestHandler, host?: string): Promise<number> {
  let callCount = 0;
  const server = await pod.startApp({
    ...(host === undefined ? { port: 8_081 } : { host, port: 0 }),
    respond: (req, res) => {
      callCount += 1;
      const { host: _, ...headers } = req.headers;
      pod.record(`call ${callCount}`, { method: req.method, url: req.url, headers });
      respond(req, res);
    },
  });
  return (server.address() as AddressInfo).port;
}

function httpDriverFlags(pod: SimulatedPod, activePath: string): string[] {
  // The driver's own connection to port 8081 may or may not be open at the deadline, so the manager ignores the port.
  const url = `http://${pod.address}:8081`;
  return [
    ...ONE_APP,
    "--ignore-ports=8081",
    "--driver=http",
    `--drain-url=${url}/drain`,
    `--active-url=${url}/${activePath}`,
  ];
}

/** Drains a Pod that also has an app on the default port, for client traffic. */
async function drainWith(
  pod: SimulatedPod,
  flags: readonly string[],
  env: Record<string, string> = {},
): Promise<Manager> {
  await pod.startApp();
  const manager = await pod.serve(flags, env);
  await terminatePod(pod);
  await pod.requestStatus("after");
  return manager;
}

/** Decrements the count with each request, so both builds read the same values, however often they send requests. */
function respondCountingDown(from: number, bodyOf: (count: number) => string): RequestHandler {
  let count = from;
  return (req, res) => {
    if (req.method === "POST") {
      res.end("bye");
      return;
    }
    res.end(bodyOf(count));
    count = Math.max(0, count - 1);
  };
}

function respondWith(status: number, body: string): RequestHandler {
  return (_, res) => {
    res.statusCode = status;
    res.end(body);
  };
}

/** Responses without a valid count: a drain that only gets such responses lasts until its deadline. */
const INVALID_COUNTS: readonly { readonly title: string; readonly respond: RequestHandler }[] = [
  { title: "text", respond: respondWith(200, "none") },
  { title: "an empty body", respond: respondWith(200, "") },
  { title: "an error", respond: respondWith(404, "0") },
  { title: "an unfinished response", respond: (_, res) => void res.write("0") },
  {
    title: "an interrupted response",
    respond: (req) => void req.socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n0"),
  },
  { title: "another protocol", respond: (req) => void req.socket.end("hello\r\n\r\n") },
  { title: "deeply nested JSON", respond: respondWith(200, `${"[".repeat(5_000)}0${"]".repeat(5_000)}`) },
  { title: "a body beyond the size limit", respond: respondWith(200, "0".repeat(100_000)) },
];

export const DRIVERS: readonly Scenario[] = [
  {
    title: "an app that counts its requests down",
    play: async (pod) => {
      await startRecordingApp(pod, respondCountingDown(4, String));
      await drainWith(pod, httpDriverFlags(pod, "active"));
    },
  },
  {
    title: "an app that counts in JSON",
    play: async (pod) => {
      await startRecordingApp(
        pod,
        respondCountingDown(2, (count) => JSON.stringify({ load: { requests: count, of: "täglich" } })),
      );
      await drainWith(pod, httpDriverFlags(pod, "active#/load/requests"));
    },
  },
  {
    title: "an app that counts in metrics",
    play: async (pod) => {
      await startRecordingApp(
        pod,
        respondCountingDown(2, (count) => `# TYPE busy gauge\nbusy{a="b"} ${count}\nidle 7\n`),
      );
      await drainWith(pod, httpDriverFlags(pod, "metrics#busy"));
    },
  },
  ...INVALID_COUNTS.map(
    ({ title, respond }): Scenario => ({
      title: `an app that responds with ${title} to active-url`,
      play: async (pod) => {
        // Requests are not recorded, because their number depends on the machine's speed.
        await pod.startApp({
          port: 8_081,
          respond: (req, res) => (req.method === "POST" ? res.end() : respond(req, res)),
        });
        const flags = httpDriverFlags(pod, "active").filter((flag) => !flag.startsWith("--drain-timeout"));
        await drainWith(pod, [...flags, "--drain-timeout=2500ms"]);
      },
    }),
  ),
  {
    title: "an app that refuses to drain",
    play: async (pod) => {
      await startRecordingApp(pod, respondWith(403, "no"));
      const drainUrlFlag = `--drain-url=http://${pod.address}:8081/drain`;
      const manager = await drainWith(pod, [...ONE_APP, "--driver=http", drainUrlFlag]);
      // The drain does not wait for the app's response to drain-url, so this response may arrive after the drain's end.
      await manager.untilLogged((line) => line["message"] === "driver's drain was not started");
    },
  },
  {
    title: "an app whose drain fails twice",
    play: async (pod) => {
      let calls = 0;
      await startRecordingApp(pod, (_, res) => {
        calls += 1;
        res.statusCode = calls < 3 ? 503 : 200;
        res.end();
      });
      await drainWith(pod, drainUrlFlags(pod));
    },
  },
  {
    title: "a driver that the build does not contain",
    play: async (pod) => {
      await drainWith(pod, [
        ...ONE_APP,
        "--driver=linkerd",
        "--driver-url=http://127.0.0.1:4191",
        "--drained-when=requests",
      ]);
    },
  },
  {
    title: "an original preStop hook",
    play: async (pod) => {
      const slowHook: RequestHandler = (_, res) => pod.clock.after(2_000, () => res.end("bye"));
      const port = await startRecordingApp(pod, slowHook, "127.0.0.1");
      const httpHeaders = [{ name: "X-Reason", value: "stop, please" }];
      const chain = { app: { httpGet: { port, path: "/bye?now=1", httpHeaders } } };
      await drainWith(pod, ONE_APP, { LASTCALL_ORIGINAL: JSON.stringify({ chain }) });
    },
  },
  {
    title: "an original preStop hook that fails",
    play: async (pod) => {
      const port = await startRecordingApp(pod, (req) => void req.socket.destroy(), "127.0.0.1");
      await drainWith(pod, ONE_APP, { LASTCALL_ORIGINAL: `{"chain":{"app":{"httpGet":{"port":${port}}}}}` });
    },
  },
  {
    title: "an original preStop hook that sleeps",
    play: async (pod) => {
      await drainWith(pod, ONE_APP, { LASTCALL_ORIGINAL: '{"grace":30,"chain":{"app":{"sleep":{"seconds":3}}}}' });
    },
  },
  ...[
    "not json",
    '{"chain":7}',
    '{"chain":{"app":null}}',
    '{"chain":{"app":{"exec":{"command":["x"]}}}}',
    '{"chain":{"app":{"httpGet":{"port":"http"}}}}',
    '{"chain":{"app":{"httpGet":{"port":1,"path":"/a b"}}}}',
    '{"chain":{"app":{"sleep":{"seconds":-1}}}}',
    '{"chain":null,"grace":null}',
    "[".repeat(5_000),
  ].map(
    (text): Scenario => ({
      title: `an invalid original preStop hook ${text.slice(0, 50)}`,
      play: async (pod) => void (await drainWith(pod, ONE_APP, { LASTCALL_ORIGINAL: text })),
    }),
  ),
];

function drainUrlFlags(pod: SimulatedPod): string[] {
  const at = `--drain-url=http://${pod.address}:8081/drain`;
  return ["--drain-delay=500ms", "--quiet-period=4s", "--driver=http", at, "--hooks=app:app"];
}
