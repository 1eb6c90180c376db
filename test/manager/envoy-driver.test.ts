/** Tests drains with faults of Envoy's admin interface, on the manager's Node and native builds. */
import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import type { TestClock } from "../clock/test-clock.ts";
import { type FakeEnvoy, listenerLines, startFakeEnvoy } from "./fake-envoy.ts";
import {
  type App,
  call,
  dial,
  endApp,
  endManagers,
  hookPath,
  type Manager,
  startApp,
  startManager,
  TOKEN,
} from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";

afterAll(endManagers);

type Pod = { readonly clock: TestClock; readonly envoy: FakeEnvoy; readonly manager: Manager; readonly app: App };

const FAIL_HEALTH_CHECK = "POST /healthcheck/fail";
const DRAIN_LISTENERS = "POST /drain_listeners?graceful&skip_exit";
const DRAIN_INBOUND_LISTENERS = "POST /drain_listeners?inboundonly&graceful&skip_exit";

function residentKib(pid: number): number {
  return Number(/VmRSS:\s+([0-9]+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

describeOnClock("the Envoy driver", (build) => {
  const pods: Pod[] = [];

  afterAll(async () => {
    for (const pod of pods.splice(0)) {
      pod.manager.kill("SIGKILL");
      await pod.manager.ended;
      await endApp(pod.app);
      await pod.envoy.stop();
    }
  });

  async function startPod(clock: TestClock, ...flags: string[]): Promise<Pod> {
    const envoy = await startFakeEnvoy();
    const baseFlags = ["--drain-delay=1s", "--quiet-period=500ms", "--hooks=app:app", ...flags];
    const allFlags = flags.some((flag) => flag.startsWith("--drain-timeout"))
      ? baseFlags
      : [...baseFlags, "--drain-timeout=20s"];
    const urlFlags = flags.some((flag) => flag.startsWith("--driver-url")) ? [] : [`--driver-url=${envoy.url}`];
    const driverFlags = flags.some((flag) => flag.startsWith("--driver=")) ? [] : ["--driver=envoy"];
    const manager = await startManager({ build, clock, flags: [...allFlags, ...driverFlags, ...urlFlags] });
    const pod = { clock, envoy, manager, app: await startApp(manager.address, 8_080, clock) };
    pods.push(pod);
    return pod;
  }

  /** Waits until Envoy has received the calls, because the drain of a Pod without connections does not wait for them. */
  async function untilCalled({ clock, envoy }: Pod, count: number): Promise<readonly string[]> {
    await clock.until(() => envoy.calls.length >= count);
    await clock.wait(300);
    return envoy.calls;
  }

  async function drainPod({ clock, manager }: Pod): Promise<{ ms: number; outcome: string; why: string }> {
    const calledMs = clock.nowMs();
    const response = await call(manager, `/${TOKEN}/drain`, "POST");
    expect(response.status).toBe(200);
    return { ...JSON.parse(response.body), ms: clock.nowMs() - calledMs };
  }

  const logMessages = ({ manager }: Pod) => manager.lines().map((line) => `${line["message"]}: ${line["detail"]}`);

  test.concurrent(
    "sends Envoy the drain request after the delays, and ends the drain immediately if no connection is open",
    onClock(async (clock) => {
      const pod = await startPod(clock);
      const end = await drainPod(pod);
      expect(end.outcome).toBe("drained");
      expect(end.ms).toBe(1_000);
      expect(await untilCalled(pod, 2)).toEqual([FAIL_HEALTH_CHECK, DRAIN_LISTENERS]);
    }),
  );

  test.concurrent(
    "sends Envoy one drain request for any number of hooks, including disconnected callers",
    onClock(async (clock) => {
      const pod = await startPod(clock);
      const hookCalls = [call(pod.manager, hookPath()), call(pod.manager, hookPath()), drainPod(pod)];
      const disconnectedClient = await dial(pod.manager);
      disconnectedClient.write(`POST /${TOKEN}/drain HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);
      await clock.wait(100);
      disconnectedClient.destroy();
      await Promise.all(hookCalls);
      expect(await untilCalled(pod, 2)).toEqual([FAIL_HEALTH_CHECK, DRAIN_LISTENERS]);
    }),
  );

  test.concurrent(
    "drains only the inbound listeners if Envoy is a sidecar",
    onClock(async (clock) => {
      const pod = await startPod(clock, "--driver=istio");
      pod.envoy.stats = () => listenerLines("0.0.0.0_15006", { http: { prefix: "inbound_0.0.0.0_8080" } });
      expect(await drainPod(pod)).toMatchObject({ outcome: "drained" });
      expect(await untilCalled(pod, 1)).toEqual([DRAIN_INBOUND_LISTENERS]);
    }),
  );

  test.concurrent(
    "does not send Envoy a request when one container restarts",
    onClock(async (clock) => {
      const pod = await startPod(clock);
      const hookResponse = await call(pod.manager, hookPath());
      expect(JSON.parse(hookResponse.body)).toMatchObject({ outcome: "restarted" });
      expect(pod.envoy.calls).toEqual([]);
      expect(pod.envoy.statsRequestCount()).toBe(0);
    }),
  );

  test.concurrent(
    "delays the end of a drain by one quiet period if an idle connection is open",
    onClock(async (clock) => {
      const pod = await startPod(clock);
      pod.envoy.stats = () =>
        listenerLines("0.0.0.0_8080", { connections: 1, connectionTotal: 1, http: { prefix: "web" } });
      const client = await dial(pod.manager, 8_080);
      const end = await drainPod(pod);
      client.destroy();
      expect(end).toMatchObject({ outcome: "drained" });
      expect(end.ms).toBe(1_600);
    }),
  );

  test.concurrent.for([
    { title: "an HTTP request", busy: { connections: 1, http: { prefix: "web", requests: 1 } } },
    { title: "an upgraded connection", busy: { connections: 1, http: { prefix: "web", upgrades: 1 } } },
    { title: "a TCP session", busy: { connections: 1 } },
    {
      title: "a TCP session beside an idle HTTP connection",
      busy: { connections: 2, http: { prefix: "web", connections: 1 } },
    },
  ])(
    "delays the end of a drain for $title",
    onClock(async (clock, { busy }) => {
      const pod = await startPod(clock);
      let hasEnded = false;
      pod.envoy.stats = () => listenerLines("0.0.0.0_8080", hasEnded ? undefined : busy);
      const end = drainPod(pod);
      await clock.wait(2_500);
      hasEnded = true;
      const { ms, outcome } = await end;
      expect(outcome).toBe("drained");
      expect(ms).toBe(3_100);
    }),
  );

  test.concurrent(
    "delays the end of a drain while datagrams arrive, and not for the idle UDP session afterwards",
    onClock(async (clock) => {
      const pod = await startPod(clock);
      const untilMs = clock.nowMs() + 2_500;
      let datagramCount = 0;
      pod.envoy.stats = () => {
        if (clock.nowMs() < untilMs) datagramCount += 1;
        return [
          ...listenerLines("0.0.0.0_8080"),
          "udp.dns.downstream_sess_active: 1",
          `udp.dns.downstream_sess_rx_datagrams: ${datagramCount}`,
          "udp.dns.downstream_sess_tx_datagrams: 0",
        ];
      };
      const { ms, outcome } = await drainPod(pod);
      expect(outcome).toBe("drained");
      expect(ms).toBe(2_900);
    }),
  );

  test.concurrent(
    "delays the end of a drain for a UDP session whose datagrams Envoy does not count",
    onClock(async (clock) => {
      const pod = await startPod(clock, "--drain-timeout=2s");
      pod.envoy.stats = () => [...listenerLines("0.0.0.0_8080"), "udp.dns.downstream_sess_active: 1"];
      expect(await drainPod(pod)).toMatchObject({ outcome: "timeout" });
    }),
  );

  test.concurrent(
    "delays the end of a drain until the deadline while streams are open, and reports their number",
    onClock(async (clock) => {
      const pod = await startPod(clock, "--drain-timeout=2s");
      pod.envoy.stats = () => listenerLines("0.0.0.0_8080", { connections: 1, http: { prefix: "web", requests: 1 } });
      const end = await drainPod(pod);
      expect(end).toMatchObject({ outcome: "timeout" });
      expect(end.why).toContain("with 1 active request or session");
    }),
  );

  test.concurrent(
    "delays the end of a drain while requests start and end between two samples",
    onClock(async (clock) => {
      const pod = await startPod(clock);
      const untilMs = clock.nowMs() + 3_000;
      let responseCount = 0;
      pod.envoy.stats = () => {
        if (clock.nowMs() < untilMs) responseCount += 50;
        return listenerLines("0.0.0.0_8080", {
          connections: 1,
          http: { prefix: "web", completedRequests: responseCount },
        });
      };
      const end = await drainPod(pod);
      expect(end.outcome).toBe("drained");
      expect(end.ms).toBe(3_300);
    }),
  );

  test.concurrent(
    "repeats a drain request that failed twice",
    onClock(async (clock) => {
      const pod = await startPod(clock, "--drained-when=quiet");
      pod.envoy.faults.push(503, 503);
      expect(await drainPod(pod)).toMatchObject({ outcome: "drained" });
      expect(await untilCalled(pod, 4)).toEqual([
        FAIL_HEALTH_CHECK,
        FAIL_HEALTH_CHECK,
        FAIL_HEALTH_CHECK,
        DRAIN_LISTENERS,
      ]);
    }),
  );

  test.concurrent(
    "does not send another request if Envoy refuses to drain its listeners",
    onClock(async (clock) => {
      const pod = await startPod(clock, "--drained-when=quiet");
      pod.envoy.defaultFault = 400;
      expect(await drainPod(pod)).toMatchObject({ outcome: "drained" });
      expect(await untilCalled(pod, 2)).toEqual([FAIL_HEALTH_CHECK, DRAIN_LISTENERS]);
      expect(logMessages(pod).join("\n")).toContain("drain_listeners?graceful&skip_exit: status 400");
    }),
  );

  test.concurrent(
    "sends the drain request again after a restart of Envoy",
    onClock(async (clock) => {
      const pod = await startPod(clock);
      pod.envoy.stats = () => listenerLines("0.0.0.0_8080", { connections: 1, http: { prefix: "web", requests: 1 } });
      const end = drainPod(pod);
      expect(await untilCalled(pod, 2)).toEqual([FAIL_HEALTH_CHECK, DRAIN_LISTENERS]);
      pod.envoy.restart();
      expect(await untilCalled(pod, 4)).toEqual([
        FAIL_HEALTH_CHECK,
        DRAIN_LISTENERS,
        FAIL_HEALTH_CHECK,
        DRAIN_LISTENERS,
      ]);
      expect([pod.envoy.health, pod.envoy.isDraining]).toEqual(["failed", true]);
      pod.envoy.stats = () => listenerLines("0.0.0.0_8080");
      expect(await end).toMatchObject({ outcome: "drained" });
    }),
  );

  test.concurrent(
    "falls back to samples of sockets if Envoy is not running",
    onClock(async (clock) => {
      const pod = await startPod(clock);
      await pod.envoy.stop();
      const end = await drainPod(pod);
      expect(end.outcome).toBe("drained");
      expect(logMessages(pod).join("\n")).toContain(
        "samples of the sockets determine the end of the drain: Envoy's admin interface is unreachable",
      );
    }),
  );

  test.concurrent(
    "waits for an Envoy that restarts at the trigger, and sends the drain request when Envoy responds again",
    onClock(async (clock) => {
      const pod = await startPod(clock);
      await endApp(pod.app);
      pod.envoy.defaultFault = "refuse";
      const end = drainPod(pod);
      await clock.until(() => pod.envoy.statsRequestCount() >= 3);
      pod.envoy.stats = () => listenerLines("0.0.0.0_8080", { connections: 1, http: { prefix: "web", requests: 1 } });
      pods.push({ ...pod, app: await startApp(pod.manager.address, 8_080, clock) });
      pod.envoy.defaultFault = undefined;
      await clock.until(() => pod.envoy.health === "failed" && pod.envoy.isDraining);
      pod.envoy.stats = () => listenerLines("0.0.0.0_8080");
      expect(await end).toMatchObject({ outcome: "drained", why: expect.stringContaining("no request was active") });
    }),
  );

  test.concurrent(
    "delays the end of a drain by five seconds for an Envoy that never starts",
    onClock(async (clock) => {
      const pod = await startPod(clock);
      await endApp(pod.app);
      await pod.envoy.stop();
      const end = await drainPod(pod);
      expect(end).toMatchObject({
        outcome: "not-needed",
        why: expect.stringMatching(/did not respond within 5(\.[0-9])?s/),
      });
      expect(end.ms).toBe(5_000);
    }),
  );

  test.concurrent(
    "delays the end of a drain until the deadline if Envoy hangs, because traffic can still flow",
    onClock(async (clock) => {
      const pod = await startPod(clock, "--drain-timeout=4s");
      pod.envoy.defaultFault = "hang";
      const end = await drainPod(pod);
      expect(end.outcome).toBe("timeout");
      expect(end.why).toContain("the last count of active requests failed");
    }),
  );

  test.concurrent(
    "sends a slow Envoy the drain request at its first response",
    onClock(async (clock) => {
      const pod = await startPod(clock);
      pod.envoy.stats = () => {
        const requests = pod.envoy.isDraining ? 0 : 1;
        return listenerLines("0.0.0.0_8080", { connections: 1, http: { prefix: "web", requests } });
      };
      pod.envoy.defaultFault = "hang";
      const end = drainPod(pod);
      await clock.wait(2_500);
      pod.envoy.defaultFault = undefined;
      expect(await end).toMatchObject({ outcome: "drained" });
      expect([pod.envoy.health, pod.envoy.isDraining]).toEqual(["failed", true]);
    }),
  );

  test.concurrent.for([
    { title: "nothing", stats: () => [], withoutAdminLines: true },
    { title: "only unrelated names", stats: () => ["server.live: 1"], withoutAdminLines: true },
    {
      title: "only connections",
      stats: () => ["listener.0.0.0.0_8080.downstream_cx_active: 0"],
      withoutAdminLines: true,
    },
    {
      title: "only Envoy's own and internal listeners",
      stats: () => listenerLines("envoy_internal_x"),
      withoutAdminLines: false,
    },
  ])(
    "falls back to samples of sockets if Envoy's statistics contain $title",
    onClock(async (clock, { stats, withoutAdminLines }) => {
      const pod = await startPod(clock);
      if (withoutAdminLines) pod.envoy.allStats = stats;
      else pod.envoy.stats = stats;
      const slowRequest = pod.app.sendSlowRequest(3_500);
      const end = await drainPod(pod);
      await slowRequest;
      expect(end.outcome).toBe("drained");
      expect(end.ms).toBe(4_000);
      expect(logMessages(pod).join("\n")).toContain(
        "driver cannot count requests or connections; samples of the sockets determine the end of the drain",
      );
    }),
  );

  test.concurrent(
    "uses little memory for the statistics of a thousand listeners",
    onClock(async (clock) => {
      const pod = await startPod(clock, "--drain-timeout=3s");
      const lines = Array.from({ length: 1_000 }, (_, n) =>
        listenerLines(`0.0.0.0_${20_000 + n}`, {
          connections: 1,
          http: { prefix: `web-${n}`, requests: n === 7 ? 1 : 0 },
        }),
      ).flat();
      pod.envoy.stats = () => lines;
      const kibBefore = residentKib(pod.manager.pid);
      const end = drainPod(pod);
      await clock.wait(3_000);
      const kibAfter = residentKib(pod.manager.pid);
      expect(await end).toMatchObject({ outcome: "timeout", why: expect.stringContaining("1 active request") });
      if (build.name === "native") expect(kibAfter).toBeLessThan(6_144);
      else expect(kibAfter - kibBefore).toBeLessThan(65_536);
    }),
  );
});
