import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClock } from "../clock/test-clock.ts";
import { BROKEN_RELAYS, endBrokenRelays } from "./broken-relays.ts";
import { type Authority, createAuthority, endRelays } from "./fake-relay.ts";
import { call, endApp, endManagers, startApp, startManager, TOKEN } from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";

afterAll(endBrokenRelays);
afterAll(endRelays);
afterAll(endManagers);

const FLAGS = ["--drain-delay=3s", "--quiet-period=300ms", "--drain-timeout=20s", "--hooks=app:app"];

let ca: Authority;
beforeAll(async () => {
  ca = await createAuthority();
});

describeOnClock("a drain with a broken relay", (build) => {
  const drainPod = async (
    clock: TestClock,
    env: Record<string, string>,
    causeFault: () => Promise<void> = async () => {},
  ) => {
    const manager = await startManager({ build, clock, env, flags: FLAGS });
    const app = await startApp(manager.address, 8_080, clock);
    const startedMs = clock.nowMs();
    const drainCall = call(manager, `/${TOKEN}/drain`, "POST").then((response) => ({
      ...{ body: response.body, ms: clock.nowMs() - startedMs },
    }));
    const [{ body, ms }] = await Promise.all([drainCall, causeFault()]);
    manager.kill("SIGTERM");
    const end = await manager.ended;
    await endApp(app);
    return { report: JSON.parse(body), ms, code: end.code, log: manager.lines() };
  };

  test.concurrent.for([...BROKEN_RELAYS])(
    "lasts as long as without a relay if the relay $behaviour",
    onClock(async (clock, broken) => {
      const { env, causeFault } = await broken.start(ca, clock);
      const withoutRelay = await drainPod(clock, {});
      const withRelay = await drainPod(clock, env, causeFault);
      const details = `without: ${withoutRelay.ms} ms, ${JSON.stringify(withoutRelay)}; with: ${withRelay.ms} ms, ${JSON.stringify(withRelay)}`;
      expect(withRelay.ms - withoutRelay.ms, details).toBe(broken.additionalMs ?? 0);
      expect(withRelay.ms, details).toBeGreaterThanOrEqual(3_000);
      expect(withRelay.report).toMatchObject({ outcome: "drained", trigger: "hook", evidenceSource: "netlink" });
      expect(withRelay.report.relay, details).toMatch(/^unknown: ./);
      expect(withRelay.report.why).toContain("is unknown (");
      expect(JSON.stringify(withRelay).length).toBeLessThan(16_384);
      expect(withRelay.code).toBe(0);
      expect(withoutRelay.report).toMatchObject({ outcome: "drained", relay: "none" });
    }),
  );
});
