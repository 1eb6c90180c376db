/** Tests hand-overs of manager processes with a client that never stops sending requests on its connection. */
import { Agent, get } from "node:http";
import { afterAll, expect, test } from "vitest";
import type { DrainReport } from "../../src/contract/drain-report.ts";
import type { TestClock } from "../clock/test-clock.ts";
import { endRelays, startRelay, statusLine } from "./fake-relay.ts";
import { type App, call, endApp, endManagers, startApp, startManager, TOKEN } from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";

afterAll(endRelays);
afterAll(endManagers);

const FLAGS = ["--drain-delay=1s", "--quiet-period=500ms", "--drain-timeout=60s", "--hooks=app:app"];
const REQUEST_INTERVAL_MS = 40;
/** The drain delay of 1 s plus the default patience of 10 s. */
const PATIENCE_END_MS = 11_000;

function startEndlessClient(clock: TestClock, address: string, { port }: App): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  clock.every(REQUEST_INTERVAL_MS, () => {
    get({ host: address, port, path: "/", agent }, (response) => response.resume()).on("error", () => undefined);
  });
  return agent;
}

describeOnClock("a drain whose client never stops sending requests on its connection", (build) => {
  type Case = { readonly flags?: readonly string[]; readonly shutdown?: "graceful" };
  const testHandOver = (title: string, { flags = [], shutdown }: Case, check: (report: DrainReport) => void) =>
    test.concurrent(
      title,
      onClock(async (clock) => {
        const firstStatus = statusLine({ state: "out", ...(shutdown === undefined ? {} : { shutdown }) });
        const relay = await startRelay({ clock, firstStatus });
        const manager = await startManager({ build, clock, env: relay.env, flags: [...FLAGS, ...flags] });
        const app = await startApp(manager.address);
        const agent = startEndlessClient(clock, manager.address, app);
        await clock.wait(200);
        const report: DrainReport = JSON.parse((await call(manager, `/${TOKEN}/drain`, "POST")).body);
        expect(report).toMatchObject({ outcome: "handed-over", leftTotal: 1 });
        check(report);
        manager.kill("SIGKILL");
        agent.destroy();
        await endApp(app);
      }),
    );

  const drainEndMsOf = ({ milliseconds }: DrainReport): number => milliseconds.withdrawing + milliseconds.draining;

  testHandOver("is handed over after the patience", {}, (report) => {
    expect(drainEndMsOf(report)).toBeGreaterThanOrEqual(PATIENCE_END_MS);
    expect(report.why).toContain("none of them closed for 10s");
  });

  testHandOver(
    "is handed over after the delays if the app shuts down gracefully",
    { flags: ["--shutdown=graceful"] },
    (report) => {
      expect(drainEndMsOf(report)).toBeLessThan(2_000); // bound: on the test clock
      expect(report.why).toContain("the app finishes their requests at its stop signal");
    },
  );

  testHandOver(
    "is handed over after the delays if the relay reports that the workload's last stops did not reset a connection",
    { shutdown: "graceful" },
    (report) => {
      expect(drainEndMsOf(report)).toBeLessThan(3_000); // bound: on the test clock
      expect(report.why).toContain("no connection was reset when the last Pods of this workload stopped");
    },
  );

  testHandOver(
    "is handed over after the patience with --shutdown=abrupt, whatever the relay reports",
    { flags: ["--shutdown=abrupt"], shutdown: "graceful" },
    (report) => {
      expect(drainEndMsOf(report)).toBeGreaterThanOrEqual(PATIENCE_END_MS);
    },
  );
});
