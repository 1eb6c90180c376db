/** Scenarios of the http driver, of drivers outside of the build, and of original hooks. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Manager } from "../manager-process.ts";
import { ONE_APP, podEnds, type Scenario } from "./scenario.ts";
import type { SimulatedPod } from "./simulated-pod.ts";

type Answers = (req: IncomingMessage, res: ServerResponse) => void;

/** Starts an app that records its requests and then responds with `answers`. */
async function listeningApp(pod: SimulatedPod, answers: Answers, host?: string): Promise<number> {
  let calls = 0;
  const server = await pod.app({
    ...(host === undefined ? { port: 8_081 } : { host, port: 0 }),
    answers: (req, res) => {
      calls += 1;
      const { host: _, ...headers } = req.headers;
      pod.record(`call ${calls}`, { method: req.method, url: req.url, headers });
      answers(req, res);
    },
  });
  return (server.address() as AddressInfo).port;
}

function httpDriver(pod: SimulatedPod, active: string): string[] {
  // Ignored, because the driver's own connection may or may not be open at the deadline.
  const at = `http://${pod.address}:8081`;
  return [
    ...ONE_APP,
    "--ignore-ports=8081",
    "--driver=http",
    `--drain-url=${at}/drain`,
    `--active-url=${at}/${active}`,
  ];
}

/** Client traffic uses the default port. */
async function drainWith(
  pod: SimulatedPod,
  flags: readonly string[],
  env: Record<string, string> = {},
): Promise<Manager> {
  await pod.app();
  const manager = await pod.serve(flags, env);
  await podEnds(pod);
  await pod.status("after");
  return manager;
}

/** Counts down with each request, so that both builds read the same values at any pace. */
function countingDown(from: number, bodyOf: (count: number) => string): Answers {
  let left = from;
  return (req, res) => {
    if (req.method === "POST") {
      res.end("bye");
      return;
    }
    res.end(bodyOf(left));
    left = Math.max(0, left - 1);
  };
}

function answering(status: number, body: string): Answers {
  return (_, res) => {
    res.statusCode = status;
    res.end(body);
  };
}

/** Invalid counts, with which the drain lasts until its deadline. */
const NO_COUNTS: readonly { readonly title: string; readonly answers: Answers }[] = [
  { title: "text", answers: answering(200, "none") },
  { title: "an empty body", answers: answering(200, "") },
  { title: "an error", answers: answering(404, "0") },
  { title: "an unfinished response", answers: (_, res) => void res.write("0") },
  {
    title: "an interrupted response",
    answers: (req) => void req.socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n0"),
  },
  { title: "another protocol", answers: (req) => void req.socket.end("hello\r\n\r\n") },
  { title: "deeply nested JSON", answers: answering(200, `${"[".repeat(5_000)}0${"]".repeat(5_000)}`) },
  { title: "a body beyond the size limit", answers: answering(200, "0".repeat(100_000)) },
];

export const DRIVERS: readonly Scenario[] = [
  {
    title: "an app that counts its requests down",
    play: async (pod) => {
      await listeningApp(pod, countingDown(4, String));
      await drainWith(pod, httpDriver(pod, "active"));
    },
  },
  {
    title: "an app that counts in JSON",
    play: async (pod) => {
      await listeningApp(
        pod,
        countingDown(2, (count) => JSON.stringify({ load: { requests: count, of: "täglich" } })),
      );
      await drainWith(pod, httpDriver(pod, "active#/load/requests"));
    },
  },
  {
    title: "an app that counts in metrics",
    play: async (pod) => {
      await listeningApp(
        pod,
        countingDown(2, (count) => `# TYPE busy gauge\nbusy{a="b"} ${count}\nidle 7\n`),
      );
      await drainWith(pod, httpDriver(pod, "metrics#busy"));
    },
  },
  ...NO_COUNTS.map(
    ({ title, answers }): Scenario => ({
      title: `an app that responds with ${title} to active-url`,
      play: async (pod) => {
        // The number of requests depends on the machine's speed, so they are not recorded.
        await pod.app({
          port: 8_081,
          answers: (req, res) => (req.method === "POST" ? res.end() : answers(req, res)),
        });
        const flags = httpDriver(pod, "active").filter((flag) => !flag.startsWith("--drain-timeout"));
        await drainWith(pod, [...flags, "--drain-timeout=2500ms"]);
      },
    }),
  ),
  {
    title: "an app that refuses to drain",
    play: async (pod) => {
      await listeningApp(pod, answering(403, "no"));
      const at = `--drain-url=http://${pod.address}:8081/drain`;
      const manager = await drainWith(pod, [...ONE_APP, "--driver=http", at]);
      // The drain does not wait for the response, which may follow its end.
      await manager.until((line) => line["message"] === "driver's drain was not started");
    },
  },
  {
    title: "an app whose drain fails twice",
    play: async (pod) => {
      let calls = 0;
      await listeningApp(pod, (_, res) => {
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
      const slowHook: Answers = (_, res) => pod.clock.after(2_000, () => res.end("bye"));
      const port = await listeningApp(pod, slowHook, "127.0.0.1");
      const httpHeaders = [{ name: "X-Reason", value: "stop, please" }];
      const chain = { app: { httpGet: { port, path: "/bye?now=1", httpHeaders } } };
      await drainWith(pod, ONE_APP, { LASTCALL_ORIGINAL: JSON.stringify({ chain }) });
    },
  },
  {
    title: "an original preStop hook that fails",
    play: async (pod) => {
      const port = await listeningApp(pod, (req) => void req.socket.destroy(), "127.0.0.1");
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
