import { afterAll, beforeAll, expect, test } from "vitest";
import { BROKEN_RELAYS, endBrokenRelays } from "./broken-relays.ts";
import { describeBuilds, NATIVE_BUILD } from "./builds.ts";
import { type Authority, authority, endRelays } from "./fake-relay.ts";
import { watchLag } from "./machine-lag.ts";
import { call, endApp, endManagers, startApp, startManager, TOKEN } from "./manager-process.ts";

afterAll(endBrokenRelays);
afterAll(endRelays);
afterAll(endManagers);

const FLAGS = ["--drain-delay=3s", "--quiet-period=300ms", "--drain-timeout=20s", "--hooks=app:app"];
/** How much later than without a relay a drain may end. */
const LATE_MS = 500;

let ca: Authority;
beforeAll(async () => {
  ca = await authority();
});

// The client of the Node build is put to the same relays in relay-process.test.ts, where its slow start spoils no clock.
describeBuilds(
  "a drain whose relay is none",
  (build) => {
    const drain = async (env: Record<string, string>, during: () => Promise<void> = async () => {}) => {
      const manager = await startManager({ build, env, flags: FLAGS });
      const app = await startApp(manager.address);
      const [answer] = await Promise.all([call(manager, `/${TOKEN}/drain`, "POST"), during()]);
      manager.kill("SIGTERM");
      const end = await manager.ended;
      await endApp(app);
      return { report: JSON.parse(answer.body), ms: answer.ms, code: end.code, log: manager.lines() };
    };

    test.concurrent.for([...BROKEN_RELAYS])(
      "ends as without one when it $says",
      { timeout: 120_000 },
      async (broken) => {
        const lag = watchLag();
        const { env, during } = await broken.start(ca);
        const [without, with_] = await Promise.all([drain({}), drain(env, during)]);
        const both = `without: ${without.ms} ms; with: ${with_.ms} ms, ${JSON.stringify(with_)}`;
        expect(with_.ms - without.ms, both).toBeLessThanOrEqual(LATE_MS + lag()); // bound: beside a Pod without one; what the machine was late comes on top
        expect(with_.ms, both).toBeGreaterThanOrEqual(3_000);
        expect(with_.report).toMatchObject({ outcome: "drained", trigger: "hook", witness: "netlink" });
        expect(with_.report.relay, both).toMatch(/^unknown: ./);
        expect(with_.report.why).toContain("is not known (");
        expect(JSON.stringify(with_).length).toBeLessThan(16_384);
        expect(with_.code).toBe(0);
        expect(without.report).toMatchObject({ outcome: "drained", relay: "none" });
      },
    );
  },
  [NATIVE_BUILD],
);
