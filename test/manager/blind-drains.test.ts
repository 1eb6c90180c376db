/** Tests drains of managers to which a seccomp filter denies netlink, with and without readable socket tables in /proc. */
import { afterAll, expect, test } from "vitest";
import type { TestClock } from "../clock/test-clock.ts";
import type { Build } from "./builds.ts";
import { prepareDeniedSources } from "./denied-sources.ts";
import { call, dial, endApp, endManagers, startApp, startManager, TOKEN } from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";

const deniedSources = prepareDeniedSources();
if (deniedSources.skipReason !== "") process.stdout.write(`skipped: ${deniedSources.skipReason}\n`);
afterAll(deniedSources.remove);
afterAll(endManagers);

type DrainCase = {
  readonly build: Build;
  readonly clock: TestClock;
  readonly wrapper: readonly string[];
  readonly hasIdleClient: boolean;
};

/** Drains a Pod that has one idle client or no client. */
async function drainOnce({ build, clock, wrapper, hasIdleClient }: DrainCase) {
  const flags = ["--drain-delay=5s", "--drain-timeout=60s", "--quiet-period=2s"];
  const manager = await startManager({ build, clock, wrapper, flags });
  const visibility = await manager.untilLogged((line) => line["message"] === "socket visibility");
  const app = await startApp(manager.address, 8_080, clock);
  const client = hasIdleClient ? await dial(manager, app.port) : undefined;
  const { body } = await call(manager, `/${TOKEN}/drain`, "POST");
  client?.destroy();
  manager.kill("SIGKILL");
  await manager.ended;
  await endApp(app);
  const visibilityLineCount = manager.lines().filter((line) => line["message"] === "socket visibility").length;
  return { report: JSON.parse(body), visibility, visibilityLineCount };
}

describeOnClock("a manager that samples sockets", (build) => {
  const testIfSourcesDenied = test.skipIf(deniedSources.skipReason !== "");

  test(
    "logs that it reads netlink, and drains a Pod with an idle connection",
    onClock(async (clock) => {
      const { report, visibility, visibilityLineCount } = await drainOnce({
        build,
        clock,
        wrapper: [],
        hasIdleClient: true,
      });
      expect(visibilityLineCount).toBe(1);
      expect(visibility).toMatchObject({ level: "info", detail: expect.stringMatching(/^netlink: /) });
      expect(report).toMatchObject({ outcome: "drained", evidenceSource: "netlink", leftTotal: 1 });
    }),
  );

  testIfSourcesDenied(
    "logs that it reads only /proc/net if netlink is denied, and ends a drain with an idle connection 10 s after the delays",
    onClock(async (clock) => {
      const { report, visibility, visibilityLineCount } = await drainOnce({
        build,
        clock,
        wrapper: deniedSources.withoutNetlink,
        hasIdleClient: true,
      });
      expect(visibilityLineCount).toBe(1);
      expect(visibility).toMatchObject({ level: "warn", detail: expect.stringMatching(/^proc: /) });
      expect(report).toMatchObject({ outcome: "blind", evidenceSource: "proc", leftTotal: 1 });
      expect(report.milliseconds.withdrawing).toBe(5_000);
      expect(report.milliseconds.draining).toBeGreaterThanOrEqual(10_000);
    }),
  );

  testIfSourcesDenied(
    "ends the drain of a Pod without connections after the delays if netlink is denied",
    onClock(async (clock) => {
      const { report } = await drainOnce({ build, clock, wrapper: deniedSources.withoutNetlink, hasIdleClient: false });
      expect(report).toMatchObject({
        outcome: "drained",
        evidenceSource: "proc",
        milliseconds: { withdrawing: 5_000 },
      });
    }),
  );

  testIfSourcesDenied(
    "logs that it reads no sockets if netlink and /proc/net are denied, and ends the drain after the delays",
    onClock(async (clock) => {
      const { report, visibility, visibilityLineCount } = await drainOnce({
        build,
        clock,
        wrapper: deniedSources.withoutSources,
        hasIdleClient: true,
      });
      expect(visibilityLineCount).toBe(1);
      expect(visibility).toMatchObject({ level: "warn", detail: expect.stringMatching(/^nothing: /) });
      expect(report).toMatchObject({ outcome: "blind", evidenceSource: "none", leftTotal: 0 });
      expect(report.why).toContain("could not be read, so the drain only waited for its delays");
      expect(report.milliseconds).toMatchObject({ withdrawing: 5_000, draining: 0 });
    }),
  );
});
