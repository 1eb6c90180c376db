import { connect } from "node:net";
import { afterAll, expect, test } from "vitest";
import type { TestClock } from "../clock/test-clock.ts";
import {
  CREDENTIAL,
  endRelays,
  type FakeRelay,
  RELAY_NAME,
  type RelayOptions,
  startRelay,
  statusLine,
} from "./fake-relay.ts";
import {
  call,
  endApp,
  endManagers,
  hookPath,
  type Manager,
  startApp,
  startManager,
  statusOf,
  TOKEN,
} from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";
import { childrenOf, isAlive } from "./processes.ts";

afterAll(endRelays);
afterAll(endManagers);

const KILL_INTERVAL_MS = 100;
const UNREACHABLE = "unknown: the relay's address refuses connections";
const FLAGS = ["--drain-delay=3s", "--quiet-period=300ms", "--drain-timeout=20s", "--app-grace=5s", "--hooks=app:app"];

const drainPod = async (manager: Manager) => JSON.parse((await call(manager, `/${TOKEN}/drain`, "POST")).body);

type ScenarioParts = { readonly clock: TestClock; readonly relay: FakeRelay; readonly manager: Manager };
type ScenarioOptions = Omit<RelayOptions, "clock"> & { readonly flags?: readonly string[] };

describeOnClock("a drain with a relay", (build) => {
  /** Runs a case with a relay, a manager that uses it, and an app in its Pod. */
  const runScenario = (
    title: string,
    { flags = FLAGS, ...relaying }: ScenarioOptions,
    play: (parts: ScenarioParts) => Promise<void>,
  ) =>
    test.concurrent(
      title,
      onClock(async (clock) => {
        const relay = await startRelay({ clock, ...relaying });
        const manager = await startManager({ build, clock, env: relay.env, flags: [...flags] });
        const app = await startApp(manager.address);
        await play({ clock, relay, manager });
        manager.kill("SIGKILL");
        await endApp(app);
      }),
    );

  runScenario(
    "lasts until the Pod is withdrawn if this takes longer than the drain delay, and reports the withdrawal",
    {},
    async ({ clock, relay, manager }) => {
      const drain = drainPod(manager);
      await relay.untilRequested(2);
      await clock.wait(5_000);
      expect(await statusOf(manager)).toMatchObject({ phase: "withdrawing", relay: "offered", withdrawnAfterMs: -1 });
      relay.send(statusLine({ state: "out" }));
      const report = await drain;
      expect(report).toMatchObject({ outcome: "drained", trigger: "hook", relay: "withdrawn" });
      expect(report.withdrawnAfterMs).toBeGreaterThanOrEqual(4_500);
      expect(report.milliseconds.withdrawing).toBeGreaterThanOrEqual(4_500);
      expect(report.why).toMatch(/The Pod was withdrawn after \d/);
      const deliveredReport = await relay.untilReported();
      expect(deliveredReport).toMatchObject({ namespace: "shop", pod: "web-0", uid: relay.env["POD_UID"] });
      expect(deliveredReport["report"]).toMatchObject({ phase: "done", outcome: "drained", relay: "withdrawn" });
      expect(relay.requests[0]).toEqual({
        path: "/v1/withdrawal",
        authorization: `Lastcall ${CREDENTIAL}`,
        body: { namespace: "shop", pod: "web-0", uid: relay.env["POD_UID"], addresses: ["10.0.0.7", "fd00::7"] },
        servername: RELAY_NAME,
      });
      expect(relay.requests[1]?.path).toBe("/v1/withdrawal?heartbeat");
      manager.kill("SIGTERM");
      expect((await manager.ended).code).toBe(0);
    },
  );

  runScenario(
    "sends the relay a report after 10 s and then at longer intervals while it waits, and keeps its connection to the relay",
    { flags: ["--drain-delay=3s", "--quiet-period=300ms", "--drain-timeout=60s", "--hooks=app:app"] },
    async ({ clock, relay, manager }) => {
      const drain = drainPod(manager);
      await relay.untilRequested(2);
      await clock.wait(12_000);
      expect(await relay.untilReported()).toMatchObject({ namespace: "shop", pod: "web-0" });
      expect(relay.reports[0]?.["report"]).toMatchObject({
        phase: "withdrawing",
        outcome: "none",
        why: expect.stringMatching(
          /^Still draining, for at most 53s more, because EndpointSlices still list the Pod as ready/,
        ),
        remainingMs: 53_000,
      });
      expect(relay.streamCount()).toBe(1);
      const socket = connect(8_080, manager.address);
      socket.write("GET /?ms=60000 HTTP/1.1\r\nHost: app\r\n\r\n");
      relay.send(statusLine({ state: "out" }));
      await clock.until(async () => (await statusOf(manager))["phase"] === "draining");
      await clock.wait(20_000);
      await relay.untilSynchronized();
      expect(relay.reports.slice(1)).toMatchObject([
        {
          report: {
            phase: "draining",
            leftTotal: 1,
            remainingMs: 33_000,
            why: expect.stringContaining("with 1 connection still open"),
          },
        },
      ]);
      socket.destroy();
      expect(await drain).toMatchObject({ outcome: "drained" });
      await clock.until(() => relay.reports.length === 3);
      expect(relay.reports[2]?.["report"]).toMatchObject({ phase: "done", outcome: "drained" });
      expect(relay.reports[2]?.["report"]).not.toHaveProperty("remainingMs");
    },
  );

  runScenario(
    "lasts the whole drain delay even if the Pod was withdrawn earlier",
    { firstStatus: statusLine({ state: "out" }) },
    async ({ manager }) => {
      const report = await drainPod(manager);
      expect(report).toMatchObject({ outcome: "drained", relay: "withdrawn" });
      expect(report.milliseconds.withdrawing).toBe(3_000);
      // The relay's response takes at most one step of the test clock.
      expect(report.withdrawnAfterMs).toBeLessThan(100); // bound: on the test clock
    },
  );

  runScenario(
    "reports that the Pod was not terminating if the kubelet stopped the Pod without a deletion",
    { firstStatus: statusLine({ terminating: false }) },
    async ({ manager }) => {
      const report = await drainPod(manager);
      expect(report).toMatchObject({ outcome: "drained", relay: "not_terminating" });
      expect(report.milliseconds.withdrawing).toBe(5_000);
      expect(report.why).toContain("the kubelet stopped the Pod without a deletion");
    },
  );

  runScenario(
    "starts at a single hook if the relay reports the Pod as terminating",
    {
      firstStatus: statusLine({ state: "out", terminating: true }),
      flags: [...FLAGS.slice(0, 4), "--hooks=app:app,web:app"],
    },
    async ({ manager }) => {
      const hookResponse = await call(manager, hookPath());
      expect(JSON.parse(hookResponse.body)).toMatchObject({ outcome: "drained", trigger: "relay", relay: "withdrawn" });
    },
  );

  runScenario(
    "does not start at a single hook if the relay reports that the Pod is not terminating",
    { firstStatus: statusLine({ terminating: false }), flags: [...FLAGS.slice(0, 4), "--hooks=app:app,web:app"] },
    async ({ clock, relay, manager }) => {
      const hookCall = call(manager, hookPath());
      await relay.untilRequested();
      expect(childrenOf(manager.pid)).toHaveLength(1);
      expect(JSON.parse((await hookCall).body)).toMatchObject({ outcome: "restarted", relay: "none" });
      await clock.until(() => childrenOf(manager.pid).length === 0 && relay.streamCount() === 0);
      await relay.untilSynchronized();
      expect(relay.reports).toEqual([]);
    },
  );

  test.concurrent(
    "starts at the manager's own hook, even a late one, if the relay is unreachable",
    onClock(async (clock) => {
      const relay = await startRelay({ clock });
      await relay.crash();
      const manager = await startManager({ build, clock, env: relay.env, flags: FLAGS });
      const app = await startApp(manager.address);
      const held = call(manager, hookPath());
      await clock.wait(14_500);
      expect(await drainPod(manager)).toMatchObject({ outcome: "drained", trigger: "hook", relay: UNREACHABLE });
      expect(JSON.parse((await held).body)).toMatchObject({ outcome: "drained" });
      manager.kill("SIGKILL");
      await endApp(app);
    }),
  );

  runScenario(
    "continues to wait for the withdrawal if the relay is killed and restarted",
    {},
    async ({ clock, relay, manager }) => {
      const own = drainPod(manager);
      await relay.untilRequested();
      await relay.crash();
      await relay.restart();
      await relay.untilRequested(2);
      await clock.wait(8_000);
      expect((await statusOf(manager))["phase"]).toBe("withdrawing");
      relay.send(statusLine({ state: "out" }));
      expect(await own).toMatchObject({ outcome: "drained", relay: "withdrawn" });
    },
  );

  runScenario(
    "waits for the withdrawal if the relay sends no heartbeats",
    { hasHeartbeat: false },
    async ({ clock, relay, manager }) => {
      const own = drainPod(manager);
      await relay.untilRequested(4);
      await clock.wait(4_000);
      expect((await statusOf(manager))["phase"]).toBe("withdrawing");
      relay.send(statusLine({ state: "out" }));
      expect(await own).toMatchObject({ outcome: "drained", relay: "withdrawn" });
    },
  );

  runScenario(
    "ends earlier if the relay reports a shorter grace period of the Pod",
    { firstStatus: statusLine({ graceSeconds: 12 }) },
    async ({ manager }) => {
      const report = await drainPod(manager);
      // The deadline is 5 s after the trigger: the Pod's grace period of 12 s, minus the app's of 5 s and a margin of 2 s.
      expect(report).toMatchObject({ outcome: "timeout", relay: "offered" });
      expect(report.milliseconds.withdrawing).toBeGreaterThanOrEqual(5_000);
      expect(report.why).toContain("shortened from 23s");
    },
  );

  runScenario(
    "closes the relay's client and its connections at the end",
    { firstStatus: statusLine({ state: "out" }) },
    async ({ clock, relay, manager }) => {
      expect(childrenOf(manager.pid)).toEqual([]);
      const own = drainPod(manager);
      await relay.untilRequested();
      expect(childrenOf(manager.pid)).toHaveLength(1);
      await own;
      await relay.untilReported();
      await clock.until(() => childrenOf(manager.pid).length === 0 && relay.streamCount() === 0);
      expect(manager.lines().filter((line) => line["level"] === "warn")).toEqual([]);
      expect(JSON.stringify(manager.lines())).not.toContain(CREDENTIAL);
    },
  );

  runScenario(
    "leaves no process of the relay's client if the manager is killed",
    {},
    async ({ clock, relay, manager }) => {
      const own = drainPod(manager).catch(() => {});
      await relay.untilRequested();
      const clientPids = childrenOf(manager.pid);
      expect(clientPids).toHaveLength(1);
      manager.kill("SIGKILL");
      await clock.until(() => !clientPids.some(isAlive) && relay.streamCount() === 0);
      await own;
    },
  );

  runScenario("ends after its delay if the relay's client is killed repeatedly", {}, async ({ clock, manager }) => {
    let hasEnded = false;
    const own = drainPod(manager).finally(() => {
      hasEnded = true;
    });
    while (!hasEnded) {
      for (const pid of childrenOf(manager.pid)) process.kill(pid, "SIGKILL");
      await clock.wait(KILL_INTERVAL_MS);
    }
    const report = await own;
    expect(report.outcome).toBe("drained");
    expect(report.milliseconds.withdrawing).toBeGreaterThanOrEqual(3_000);
    // A relay client that reported "in" delays the drain until the client is killed.
    expect(report.milliseconds.withdrawing).toBeLessThan(3_000 + 2 * KILL_INTERVAL_MS); // bound: on the test clock
    expect(report.relay).toMatch(/^unknown: (the relay client ended: |no answer yet)/);
  });

  runScenario(
    "logs that the relay did not receive the report",
    { firstStatus: statusLine({ state: "out" }) },
    async ({ clock, relay, manager }) => {
      const own = drainPod(manager);
      await relay.untilRequested();
      await manager.untilLogged((line) => line["message"] === "relay");
      await relay.crash();
      expect(await own).toMatchObject({ outcome: "drained" });
      const failureLine = await manager.untilLogged((line) => line["message"] === "cannot report to the relay");
      expect(failureLine).toMatchObject({ level: "warn", pod: "web-0", namespace: "shop" });
      await clock.until(() => childrenOf(manager.pid).length === 0);
      manager.kill("SIGTERM");
      expect((await manager.ended).code).toBe(0);
    },
  );

  runScenario("sends the report if SIGTERM ends the drain", {}, async ({ relay, manager }) => {
    const own = drainPod(manager);
    await manager.untilLogged((line) => line["message"] === "relay");
    manager.kill("SIGTERM");
    expect(await own).toMatchObject({ outcome: "forced", relay: "offered" });
    expect((await manager.ended).code).toBe(3);
    expect(await relay.untilReported()).toMatchObject({ report: { outcome: "forced" } });
  });
});

describeOnClock("a manager with invalid relay variables", (build) => {
  test.concurrent.for([
    {
      title: "the relay's address does not have a port",
      overrides: { LASTCALL_RELAY_ADDRESS: "10.0.0.10" },
      variable: "LASTCALL_RELAY_ADDRESS",
    },
    { title: "the CA is missing", overrides: { LASTCALL_RELAY_CA: "" }, variable: "LASTCALL_RELAY_CA" },
    {
      title: "the CA is not a certificate",
      overrides: { LASTCALL_RELAY_CA: "A".repeat(400) },
      variable: "LASTCALL_RELAY_CA",
    },
    {
      title: "the credential is incomplete",
      overrides: { LASTCALL_RELAY_CREDENTIAL: "k1.abc" },
      variable: "LASTCALL_RELAY_CREDENTIAL",
    },
    { title: "the Pod's UID is missing", overrides: { POD_UID: "" }, variable: "POD_UID" },
  ])(
    "logs the variable's name and drains without the relay if $title",
    onClock(async (clock, { overrides, variable }) => {
      const relay = await startRelay({ clock });
      const flags = ["--drain-delay=300ms", "--quiet-period=300ms", "--hooks=app:app"];
      const manager = await startManager({ build, clock, env: { ...relay.env, ...overrides }, flags });
      const app = await startApp(manager.address);
      const warning = manager.lines().find((line) => line["message"] === "the relay is not used");
      expect(warning?.["detail"]).toContain(variable);
      expect(await drainPod(manager)).toMatchObject({ outcome: "drained", relay: "none", withdrawnAfterMs: -1 });
      expect(childrenOf(manager.pid)).toEqual([]);
      await relay.untilSynchronized();
      expect(relay.requests).toEqual([]);
      manager.kill("SIGKILL");
      await endApp(app);
    }),
  );
});
