/** Stories of apps that are spoken to: the http driver, drivers that are not there, and chained hooks. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Manager } from "../manager-process.ts";
import { ONE_APP, podEnds, type Scenario } from "./scenario.ts";
import type { World } from "./world.ts";

type Answers = (req: IncomingMessage, res: ServerResponse) => void;

/** An app that writes down how it was asked, with `answers` after it. */
async function listeningApp(world: World, answers: Answers, host?: string): Promise<number> {
  let calls = 0;
  const server = await world.app({
    ...(host === undefined ? { port: 8_081 } : { host, port: 0 }),
    answers: (req, res) => {
      calls += 1;
      const { host: _, ...headers } = req.headers;
      world.tell(`call ${calls}`, { method: req.method, url: req.url, headers });
      answers(req, res);
    },
  });
  return (server.address() as AddressInfo).port;
}

function httpDriver(world: World, active: string): string[] {
  // Apart from the traffic: at the deadline it is chance whether the driver's own connection is open.
  const at = `http://${world.address}:8081`;
  return [
    ...ONE_APP,
    "--ignore-ports=8081",
    "--driver=http",
    `--drain-url=${at}/drain`,
    `--active-url=${at}/${active}`,
  ];
}

/** The app's traffic is on the usual port. */
async function drainWith(world: World, flags: readonly string[], env: Record<string, string> = {}): Promise<Manager> {
  await world.app();
  const manager = await world.serve(flags, env);
  await podEnds(world);
  await world.status("after");
  return manager;
}

/** Counts down with every question, so that both builds are told the same. */
function countingDown(from: number, words: (count: number) => string): Answers {
  let left = from;
  return (req, res) => {
    if (req.method === "POST") {
      res.end("bye");
      return;
    }
    res.end(words(left));
    left = Math.max(0, left - 1);
  };
}

function answering(status: number, body: string): Answers {
  return (_, res) => {
    res.statusCode = status;
    res.end(body);
  };
}

/** What an app can say that is no number of requests: the drain goes on to its deadline. */
const NO_COUNTS: readonly { readonly says: string; readonly answers: Answers }[] = [
  { says: "words", answers: answering(200, "none") },
  { says: "nothing", answers: answering(200, "") },
  { says: "a failure", answers: answering(404, "0") },
  { says: "no end", answers: (_, res) => void res.write("0") },
  { says: "a broken answer", answers: (req) => void req.socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n0") },
  { says: "what is no HTTP", answers: (req) => void req.socket.end("hello\r\n\r\n") },
  { says: "a deep document", answers: answering(200, `${"[".repeat(5_000)}0${"]".repeat(5_000)}`) },
  { says: "too much", answers: answering(200, "0".repeat(100_000)) },
];

export const DRIVERS: readonly Scenario[] = [
  {
    says: "an app that counts its requests down is done at zero",
    play: async (world) => {
      await listeningApp(world, countingDown(4, String));
      await drainWith(world, httpDriver(world, "active"));
    },
  },
  {
    says: "an app that counts in a document",
    play: async (world) => {
      await listeningApp(
        world,
        countingDown(2, (count) => JSON.stringify({ load: { requests: count, of: "täglich" } })),
      );
      await drainWith(world, httpDriver(world, "active#/load/requests"));
    },
  },
  {
    says: "an app that counts among metrics",
    play: async (world) => {
      await listeningApp(
        world,
        countingDown(2, (count) => `# TYPE busy gauge\nbusy{a="b"} ${count}\nidle 7\n`),
      );
      await drainWith(world, httpDriver(world, "metrics#busy"));
    },
  },
  ...NO_COUNTS.map(
    ({ says, answers }): Scenario => ({
      says: `an app that answers ${says} when asked for its requests`,
      play: async (world) => {
        // How often it is asked within a time depends on the machine, so the calls are not written down.
        await world.app({
          port: 8_081,
          answers: (req, res) => (req.method === "POST" ? res.end() : answers(req, res)),
        });
        const flags = httpDriver(world, "active").filter((flag) => !flag.startsWith("--drain-timeout"));
        await drainWith(world, [...flags, "--drain-timeout=2500ms"]);
      },
    }),
  ),
  {
    says: "an app that refuses to drain is told once",
    play: async (world) => {
      await listeningApp(world, answering(403, "no"));
      const at = `--drain-url=http://${world.address}:8081/drain`;
      const manager = await drainWith(world, [...ONE_APP, "--driver=http", at]);
      // No one waits for the answer, which may come after the drain's end.
      await manager.until((line) => line["message"] === "driver's drain was not started");
    },
  },
  {
    says: "an app whose drain fails is told again",
    play: async (world) => {
      let calls = 0;
      await listeningApp(world, (_, res) => {
        calls += 1;
        res.statusCode = calls < 3 ? 503 : 200;
        res.end();
      });
      await drainWith(world, tellingFlags(world));
    },
  },
  {
    says: "a driver that is not part of the build leaves the sockets to decide",
    play: async (world) => {
      await drainWith(world, [
        ...ONE_APP,
        "--driver=linkerd",
        "--driver-url=http://127.0.0.1:4191",
        "--drained-when=requests",
      ]);
    },
  },
  {
    says: "a container's own hook is performed before the answer",
    play: async (world) => {
      const slowGoodbye: Answers = (_, res) => world.clock.after(2_000, () => res.end("bye"));
      const port = await listeningApp(world, slowGoodbye, "127.0.0.1");
      const httpHeaders = [{ name: "X-Reason", value: "stop, please" }];
      const chain = { app: { httpGet: { port, path: "/bye?now=1", httpHeaders } } };
      await drainWith(world, ONE_APP, { LASTCALL_ORIGINAL: JSON.stringify({ chain }) });
    },
  },
  {
    says: "a container's own hook that fails is told and holds no one",
    play: async (world) => {
      const port = await listeningApp(world, (req) => void req.socket.destroy(), "127.0.0.1");
      await drainWith(world, ONE_APP, { LASTCALL_ORIGINAL: `{"chain":{"app":{"httpGet":{"port":${port}}}}}` });
    },
  },
  {
    says: "a container's own sleep is slept",
    play: async (world) => {
      await drainWith(world, ONE_APP, { LASTCALL_ORIGINAL: '{"grace":30,"chain":{"app":{"sleep":{"seconds":3}}}}' });
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
      says: `an original of ${text.slice(0, 50)} holds no one`,
      play: async (world) => void (await drainWith(world, ONE_APP, { LASTCALL_ORIGINAL: text })),
    }),
  ),
];

function tellingFlags(world: World): string[] {
  const at = `--drain-url=http://${world.address}:8081/drain`;
  return ["--drain-delay=500ms", "--quiet-period=4s", "--driver=http", at, "--hooks=app:app"];
}
