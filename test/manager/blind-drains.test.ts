/** Drains of real managers that a seccomp filter keeps from netlink, and an empty /proc from the tables as well. */
import { afterAll, expect, test } from "vitest";
import type { TestClock } from "../clock/test-clock.ts";
import { makeBlindfold } from "./blindfold.ts";
import type { Build } from "./builds.ts";
import { call, dial, endApp, endManagers, startApp, startManager, TOKEN } from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";

const blindfold = makeBlindfold();
if (blindfold.lacks !== "") process.stdout.write(`skipped: ${blindfold.lacks}\n`);
afterAll(blindfold.remove);
afterAll(endManagers);

type Setting = {
  readonly build: Build;
  readonly clock: TestClock;
  readonly wrapper: readonly string[];
  readonly kept: boolean;
};

/** The report of a drain with at most one idle client, and what the manager had said of its sight. */
async function drained({ build, clock, wrapper, kept }: Setting) {
  const flags = ["--drain-delay=5s", "--drain-timeout=60s", "--quiet-period=2s"];
  const manager = await startManager({ build, clock, wrapper, flags });
  const sight = await manager.until((line) => line["message"] === "socket visibility");
  const app = await startApp(manager.address, 8_080, clock);
  const client = kept ? await dial(manager, app.port) : undefined;
  const { body } = await call(manager, `/${TOKEN}/drain`, "POST");
  client?.destroy();
  manager.kill("SIGKILL");
  await manager.ended;
  await endApp(app);
  const said = manager.lines().filter((line) => line["message"] === "socket visibility").length;
  return { report: JSON.parse(body), sight, said };
}

describeOnClock("a manager", (build) => {
  const blind = test.skipIf(blindfold.lacks !== "");

  test(
    "that sees all says so, and drains an idle connection by netlink",
    onClock(async (clock) => {
      const { report, sight, said } = await drained({ build, clock, wrapper: [], kept: true });
      expect(said).toBe(1);
      expect(sight).toMatchObject({ level: "info", detail: expect.stringMatching(/^netlink: /) });
      expect(report).toMatchObject({ outcome: "drained", evidenceSource: "netlink", leftTotal: 1 });
    }),
  );

  blind(
    "without netlink says that it counts only, and hands an idle connection over 10 s after the delays",
    onClock(async (clock) => {
      const { report, sight, said } = await drained({ build, clock, wrapper: blindfold.withoutNetlink, kept: true });
      expect(said).toBe(1);
      expect(sight).toMatchObject({ level: "warn", detail: expect.stringMatching(/^proc: /) });
      expect(report).toMatchObject({ outcome: "blind", evidenceSource: "proc", leftTotal: 1 });
      expect(report.milliseconds.withdrawing).toBe(5_000);
      expect(report.milliseconds.draining).toBeGreaterThanOrEqual(10_000);
    }),
  );

  blind(
    "without netlink drains a Pod without connections as ever",
    onClock(async (clock) => {
      const { report } = await drained({ build, clock, wrapper: blindfold.withoutNetlink, kept: false });
      expect(report).toMatchObject({
        outcome: "drained",
        evidenceSource: "proc",
        milliseconds: { withdrawing: 5_000 },
      });
    }),
  );

  blind(
    "that can read nothing says so, and hands over when the delays are over",
    onClock(async (clock) => {
      const { report, sight, said } = await drained({ build, clock, wrapper: blindfold.withoutSources, kept: true });
      expect(said).toBe(1);
      expect(sight).toMatchObject({ level: "warn", detail: expect.stringMatching(/^nothing: /) });
      expect(report).toMatchObject({ outcome: "blind", evidenceSource: "none", leftTotal: 0 });
      expect(report.why).toContain("could not be read, so only the delays were waited for");
      expect(report.milliseconds).toMatchObject({ withdrawing: 5_000, draining: 0 });
    }),
  );
});
