/** Tests drains of managers that cannot read netlink, which a seccomp filter denies, or the tables of /proc. */
import { afterAll, expect, test } from "vitest";
import type { TestClock } from "../clock/test-clock.ts";
import { makeBlindfold } from "./blindfold.ts";
import type { Build } from "./builds.ts";
import { call, dial, endApp, endManagers, startApp, startManager, TOKEN } from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";

const blindfold = makeBlindfold();
if (blindfold.skipReason !== "") process.stdout.write(`skipped: ${blindfold.skipReason}\n`);
afterAll(blindfold.remove);
afterAll(endManagers);

type Setting = {
  readonly build: Build;
  readonly clock: TestClock;
  readonly wrapper: readonly string[];
  readonly hasIdleClient: boolean;
};

/** Drains with at most one idle client. */
async function drained({ build, clock, wrapper, hasIdleClient }: Setting) {
  const flags = ["--drain-delay=5s", "--drain-timeout=60s", "--quiet-period=2s"];
  const manager = await startManager({ build, clock, wrapper, flags });
  const visibility = await manager.until((line) => line["message"] === "socket visibility");
  const app = await startApp(manager.address, 8_080, clock);
  const client = hasIdleClient ? await dial(manager, app.port) : undefined;
  const { body } = await call(manager, `/${TOKEN}/drain`, "POST");
  client?.destroy();
  manager.kill("SIGKILL");
  await manager.ended;
  await endApp(app);
  const visibilityLines = manager.lines().filter((line) => line["message"] === "socket visibility").length;
  return { report: JSON.parse(body), visibility, visibilityLines };
}

describeOnClock("a manager that reads sockets", (build) => {
  const blind = test.skipIf(blindfold.skipReason !== "");

  test(
    "over netlink reports full visibility and drains a Pod with an idle connection",
    onClock(async (clock) => {
      const { report, visibility, visibilityLines } = await drained({ build, clock, wrapper: [], hasIdleClient: true });
      expect(visibilityLines).toBe(1);
      expect(visibility).toMatchObject({ level: "info", detail: expect.stringMatching(/^netlink: /) });
      expect(report).toMatchObject({ outcome: "drained", evidenceSource: "netlink", leftTotal: 1 });
    }),
  );

  blind(
    "without netlink reports that it only counts, and ends a drain with an idle connection 10 s after the delays",
    onClock(async (clock) => {
      const { report, visibility, visibilityLines } = await drained({
        build,
        clock,
        wrapper: blindfold.withoutNetlink,
        hasIdleClient: true,
      });
      expect(visibilityLines).toBe(1);
      expect(visibility).toMatchObject({ level: "warn", detail: expect.stringMatching(/^proc: /) });
      expect(report).toMatchObject({ outcome: "blind", evidenceSource: "proc", leftTotal: 1 });
      expect(report.milliseconds.withdrawing).toBe(5_000);
      expect(report.milliseconds.draining).toBeGreaterThanOrEqual(10_000);
    }),
  );

  blind(
    "without netlink ends the drain of a Pod without connections after the delays",
    onClock(async (clock) => {
      const { report } = await drained({ build, clock, wrapper: blindfold.withoutNetlink, hasIdleClient: false });
      expect(report).toMatchObject({
        outcome: "drained",
        evidenceSource: "proc",
        milliseconds: { withdrawing: 5_000 },
      });
    }),
  );

  blind(
    "without any source reports that it reads nothing, and ends the drain after the delays",
    onClock(async (clock) => {
      const { report, visibility, visibilityLines } = await drained({
        build,
        clock,
        wrapper: blindfold.withoutSources,
        hasIdleClient: true,
      });
      expect(visibilityLines).toBe(1);
      expect(visibility).toMatchObject({ level: "warn", detail: expect.stringMatching(/^nothing: /) });
      expect(report).toMatchObject({ outcome: "blind", evidenceSource: "none", leftTotal: 0 });
      expect(report.why).toContain("could not be read, so only the delays were waited for");
      expect(report.milliseconds).toMatchObject({ withdrawing: 5_000, draining: 0 });
    }),
  );
});
