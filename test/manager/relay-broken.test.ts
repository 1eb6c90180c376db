import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClock } from "../clock/test-clock.ts";
import { BROKEN_RELAYS, endBrokenRelays } from "./broken-relays.ts";
import { type Authority, authority, endRelays } from "./fake-relay.ts";
import { call, endApp, endManagers, startApp, startManager, TOKEN } from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";

afterAll(endBrokenRelays);
afterAll(endRelays);
afterAll(endManagers);

const FLAGS = ["--drain-delay=3s", "--quiet-period=300ms", "--drain-timeout=20s", "--hooks=app:app"];

let ca: Authority;
beforeAll(async () => {
  ca = await authority();
});

describeOnClock("a drain with a broken relay", (build) => {
  const drain = async (clock: TestClock, env: Record<string, string>, during: () => Promise<void> = async () => {}) => {
    const manager = await startManager({ build, clock, env, flags: FLAGS });
    const app = await startApp(manager.address, 8_080, clock);
    const startedMs = clock.nowMs();
    const answered = call(manager, `/${TOKEN}/drain`, "POST").then((answer) => ({
      ...{ body: answer.body, ms: clock.nowMs() - startedMs },
    }));
    const [{ body, ms }] = await Promise.all([answered, during()]);
    manager.kill("SIGTERM");
    const end = await manager.ended;
    await endApp(app);
    return { report: JSON.parse(body), ms, code: end.code, log: manager.lines() };
  };

  test.concurrent.for([...BROKEN_RELAYS])(
    "lasts as long as without a relay if the relay $behaviour",
    onClock(async (clock, broken) => {
      const { env, during } = await broken.start(ca, clock);
      const without = await drain(clock, {});
      const with_ = await drain(clock, env, during);
      const both = `without: ${without.ms} ms, ${JSON.stringify(without)}; with: ${with_.ms} ms, ${JSON.stringify(with_)}`;
      expect(with_.ms - without.ms, both).toBe(broken.lateMs ?? 0);
      expect(with_.ms, both).toBeGreaterThanOrEqual(3_000);
      expect(with_.report).toMatchObject({ outcome: "drained", trigger: "hook", evidenceSource: "netlink" });
      expect(with_.report.relay, both).toMatch(/^unknown: ./);
      expect(with_.report.why).toContain("is unknown (");
      expect(JSON.stringify(with_).length).toBeLessThan(16_384);
      expect(with_.code).toBe(0);
      expect(without.report).toMatchObject({ outcome: "drained", relay: "none" });
    }),
  );
});
