import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WITHDRAWAL_PATH } from "../../src/contract/relay-wire.ts";
import { eventually } from "../time/eventually.ts";
import { BROKEN_RELAYS, endBrokenRelays } from "./broken-relays.ts";
import { type Build, describeBuilds } from "./builds.ts";
import { type Authority, CREDENTIAL, createAuthority, endRelays, startRelay, statusLine } from "./fake-relay.ts";
import { cpuMs } from "./process-load.ts";

const runningClients = new Set<ChildProcessWithoutNullStreams>();

afterAll(endBrokenRelays);
afterAll(endRelays);
afterAll(() => {
  for (const child of runningClients) child.kill("SIGKILL");
});

let ca: Authority;
beforeAll(async () => {
  ca = await createAuthority();
});

type Client = {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: readonly string[];
  readonly untilLine: (pattern: RegExp) => Promise<string>;
  readonly ended: Promise<number | null>;
};

/** Starts the relay's client as the manager does. */
function startClient(build: Build, env: Record<string, string>): Client {
  const child = spawn(build.command, [...build.args, "relay-client"], { env, stdio: ["pipe", "pipe", "pipe"] });
  runningClients.add(child);
  child.stdin.on("error", () => {});
  const lines: string[] = [];
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString("utf8")).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  const ended = once(child, "close").then(([code]) => {
    runningClients.delete(child);
    return code as number | null;
  });
  const untilLine = (pattern: RegExp) =>
    eventually(() => {
      expect(lines).toContainEqual(expect.stringMatching(pattern));
      return lines.find((one) => pattern.test(one)) ?? "";
    });
  return { child, lines, untilLine, ended };
}

describeBuilds("the relay's client", (build) => {
  test.concurrent.for([...BROKEN_RELAYS])(
    "reports that the status is lost, and connects again, if the relay $behaviour",
    async (broken) => {
      const { env, causeFault } = await broken.start(ca);
      const client = startClient(build, env);
      client.child.stdin.write("drain-delay 0\n");
      void causeFault?.();
      expect(await client.untilLine(/^lost /)).toMatch(/^lost [ -~]{3,120}$/);
      // The client may have started the next connection before this count, so the test waits for one more `dial`.
      const countDials = () => client.lines.filter((one) => one === "dial").length;
      const dialsBefore = countDials();
      await eventually(() => expect(countDials()).toBeGreaterThan(dialsBefore));
      expect(client.lines.join("\n")).not.toContain(CREDENTIAL);
      client.child.stdin.end();
      expect(await client.ended).toBe(0);
    },
  );

  test.concurrent("does not use CPU time while it waits for a TLS handshake", async () => {
    const silentRelay = BROKEN_RELAYS.find(({ behaviour }) => behaviour === "accepts connections and sends nothing");
    const { env = {} } = (await silentRelay?.start(ca)) ?? {};
    const client = startClient(build, env);
    await client.untilLine(/^dial$/);
    const cpuBeforeMs = cpuMs(client.child.pid ?? 0);
    // The client reports `lost` two seconds after it has started to connect.
    await client.untilLine(/^lost the relay did not respond within/);
    expect(cpuMs(client.child.pid ?? 0) - cpuBeforeMs).toBeLessThan(500); // bound: CPU time, which other programs do not lengthen
    client.child.kill("SIGKILL");
  });

  test.concurrent("writes the relay's statuses to stdout, and exits when stdin ends", async () => {
    const relay = await startRelay({ firstStatus: statusLine({ terminating: false }) });
    const client = startClient(build, relay.env);
    await client.untilLine(/^status /);
    const lastStatus = {
      state: "out",
      reason: "gone\u0007 \u2028from all",
      graceSeconds: 30,
      shutdown: "graceful",
    } as const;
    relay.send(statusLine(lastStatus));
    const statusText = await client.untilLine(/"out"/);
    expect(JSON.parse(statusText.slice("status ".length))).toEqual({
      state: "out",
      terminating: true,
      reason: "gone from all",
      graceSeconds: 30,
      shutdown: "graceful",
    });
    client.child.stdin.end();
    expect(await client.ended).toBe(0);
  });

  test.concurrent("does not connect again after the disconnect command, sends a report, and exits", async () => {
    const relay = await startRelay();
    const client = startClient(build, relay.env);
    await client.untilLine(/^status /);
    client.child.stdin.write("disconnect\n");
    await eventually(() => expect(relay.streamCount()).toBe(0));
    await relay.untilSynchronized();
    const countRequests = () => relay.requests.filter(({ path }) => path.startsWith(WITHDRAWAL_PATH)).length;
    const countBefore = countRequests();
    client.child.stdin.write('report {"version":1,"why":"Ümläut"}\n');
    await client.untilLine(/^delivered$/);
    expect(await client.ended).toBe(0);
    await relay.untilSynchronized();
    expect(countRequests()).toBe(countBefore);
    expect(relay.reports).toEqual([
      { namespace: "shop", pod: "web-0", uid: relay.env["POD_UID"], report: { version: 1, why: "Ümläut" } },
    ]);
  });

  test.concurrent("sends a report again after status 503, and then prints that the report was not delivered", async () => {
    let attempts = 0;
    const relay = await startRelay({
      respond: (_, res) => {
        attempts += 1;
        res.writeHead(503).end();
      },
    });
    const client = startClient(build, relay.env);
    client.child.stdin.write("report {}\n");
    await client.untilLine(/^undelivered the relay responded with status 503$/);
    expect(await client.ended).toBe(0);
    expect(attempts).toBeGreaterThanOrEqual(2);
  });

  test.concurrent("does not repeat a report that the relay refused", async () => {
    const paths: string[] = [];
    const relay = await startRelay({
      respond: (req, res) => {
        paths.push(req.url ?? "");
        res.writeHead(413).end();
      },
    });
    const client = startClient(build, relay.env);
    client.child.stdin.write("report {}\n");
    await client.untilLine(/^undelivered the relay responded with status 413$/);
    expect(await client.ended).toBe(0);
    expect(paths.filter((path) => path === "/v1/drains")).toHaveLength(1);
  });

  test.concurrent("exits with a usage error if no relay is configured", async () => {
    const client = startClient(build, {});
    let stderr = "";
    client.child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString("utf8");
    });
    expect(await client.ended).toBe(64);
    expect(stderr).toBe("lastcall relay-client: LASTCALL_RELAY_ADDRESS is not set\n");
  });
});
