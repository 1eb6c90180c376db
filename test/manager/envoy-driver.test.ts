/** Faults of Envoy's admin interface in a whole drain, on both builds. */
import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { describeBuilds } from "./builds.ts";
import { type FakeEnvoy, listenerLines, startFakeEnvoy } from "./fake-envoy.ts";
import {
  type App,
  call,
  dial,
  endApp,
  endManagers,
  hookPath,
  type Manager,
  pause,
  startApp,
  startManager,
  TOKEN,
} from "./manager-process.ts";
import { until } from "./processes.ts";

afterAll(endManagers);

type Pod = { readonly envoy: FakeEnvoy; readonly manager: Manager; readonly app: App };

/** Far from the deadline. How late a release may be is held at virtual time, where no other program takes part. */
const LATE_MS = 15_000;

const FAIL = "POST /healthcheck/fail";
const DRAIN = "POST /drain_listeners?graceful&skip_exit";
const INBOUND = "POST /drain_listeners?inboundonly&graceful&skip_exit";

function residentKiB(pid: number): number {
  return Number(/VmRSS:\s+([0-9]+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

describeBuilds("an Envoy that drains", (build) => {
  const pods: Pod[] = [];

  afterAll(async () => {
    for (const pod of pods.splice(0)) {
      pod.manager.kill("SIGKILL");
      await pod.manager.ended;
      await endApp(pod.app);
      await pod.envoy.stop();
    }
  });

  async function podWith(...flags: string[]): Promise<Pod> {
    const envoy = await startFakeEnvoy();
    const usual = ["--drain-delay=1s", "--quiet-period=500ms", "--hooks=app:app", ...flags];
    const all = flags.some((flag) => flag.startsWith("--drain-timeout")) ? usual : [...usual, "--drain-timeout=20s"];
    const url = flags.some((flag) => flag.startsWith("--driver-url")) ? [] : [`--driver-url=${envoy.url}`];
    const driver = flags.some((flag) => flag.startsWith("--driver=")) ? [] : ["--driver=envoy"];
    const manager = await startManager({ build, flags: [...all, ...driver, ...url] });
    const pod = { envoy, manager, app: await startApp(manager.address) };
    pods.push(pod);
    return pod;
  }

  /** The first calls. Where nobody is connected, the release does not wait for those that are on their way. */
  async function toldBy({ envoy }: Pod, count: number): Promise<readonly string[]> {
    await until(() => envoy.calls.length >= count);
    await pause(300);
    return envoy.calls;
  }

  async function drained({ manager }: Pod): Promise<{ ms: number; outcome: string; why: string }> {
    const answer = await call(manager, `/${TOKEN}/drain`, "POST");
    expect(answer.status).toBe(200);
    return { ...JSON.parse(answer.body), ms: answer.ms };
  }

  const notes = ({ manager }: Pod) => manager.lines().map((line) => `${line["message"]}: ${line["detail"]}`);

  test.concurrent("is told once the delays are over, and is over at once where nobody is connected", async () => {
    const pod = await podWith();
    const end = await drained(pod);
    expect(end.outcome).toBe("drained");
    expect(end.ms).toBeGreaterThan(950);
    expect(end.ms).toBeLessThan(LATE_MS);
    expect(await toldBy(pod, 2)).toEqual([FAIL, DRAIN]);
  });

  test.concurrent("is told once by any number of hooks, and by those that hang up", async () => {
    const pod = await podWith();
    const hooks = [call(pod.manager, hookPath()), call(pod.manager, hookPath()), drained(pod)];
    const gone = await dial(pod.manager);
    gone.write(`POST /${TOKEN}/drain HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);
    await pause(100);
    gone.destroy();
    await Promise.all(hooks);
    expect(await toldBy(pod, 2)).toEqual([FAIL, DRAIN]);
  });

  test.concurrent("as a sidecar is only told about what comes in", async () => {
    const pod = await podWith("--driver=istio");
    pod.envoy.stats = () => listenerLines("0.0.0.0_15006", { http: { prefix: "inbound_0.0.0.0_8080" } });
    expect(await drained(pod)).toMatchObject({ outcome: "drained" });
    expect(await toldBy(pod, 1)).toEqual([INBOUND]);
  });

  test.concurrent("hears nothing when one container is restarted", async () => {
    const pod = await podWith();
    const hook = await call(pod.manager, hookPath());
    expect(JSON.parse(hook.body)).toMatchObject({ outcome: "restarted" });
    expect(pod.envoy.calls).toEqual([]);
    expect(pod.envoy.asked()).toBe(0);
  });

  test.concurrent("keeps an idle connection for the quiet period and no longer", async () => {
    const pod = await podWith();
    pod.envoy.stats = () => listenerLines("0.0.0.0_8080", { connections: 1, arrived: 1, http: { prefix: "web" } });
    const client = await dial(pod.manager, 8_080);
    const end = await drained(pod);
    client.destroy();
    expect(end).toMatchObject({ outcome: "drained" });
    expect(end.ms).toBeGreaterThan(1_450);
    expect(end.ms).toBeLessThan(LATE_MS);
  });

  test.concurrent.for([
    { says: "an HTTP request", busy: { connections: 1, http: { prefix: "web", requests: 1 } } },
    { says: "an upgraded connection", busy: { connections: 1, http: { prefix: "web", upgrades: 1 } } },
    { says: "a TCP session", busy: { connections: 1 } },
    { says: "a TCP session beside idle HTTP", busy: { connections: 2, http: { prefix: "web", connections: 1 } } },
  ])("waits for $says", async ({ busy }) => {
    const pod = await podWith();
    let over = false;
    pod.envoy.stats = () => listenerLines("0.0.0.0_8080", over ? undefined : busy);
    const end = drained(pod);
    await pause(2_500);
    over = true;
    const { ms, outcome } = await end;
    expect(outcome).toBe("drained");
    expect(ms).toBeGreaterThan(2_900);
    expect(ms).toBeLessThan(LATE_MS);
  });

  test.concurrent("waits for a UDP session", async () => {
    const pod = await podWith("--drain-timeout=2s");
    pod.envoy.stats = () => [...listenerLines("0.0.0.0_8080"), "udp.dns.downstream_sess_active: 1"];
    expect(await drained(pod)).toMatchObject({ outcome: "timeout" });
  });

  test.concurrent("is waited for to the deadline while a stream stays, and the report says how many", async () => {
    const pod = await podWith("--drain-timeout=2s");
    pod.envoy.stats = () => listenerLines("0.0.0.0_8080", { connections: 1, http: { prefix: "web", requests: 1 } });
    const end = await drained(pod);
    expect(end).toMatchObject({ outcome: "timeout" });
    expect(end.why).toContain("with 1 active request or session");
  });

  test.concurrent("is not quiet while requests come and go between two looks", async () => {
    const pod = await podWith();
    const untilMs = performance.now() + 3_000;
    let answered = 0;
    pod.envoy.stats = () => {
      if (performance.now() < untilMs) answered += 50;
      return listenerLines("0.0.0.0_8080", { connections: 1, http: { prefix: "web", answered } });
    };
    const end = await drained(pod);
    expect(end.outcome).toBe("drained");
    expect(end.ms).toBeGreaterThan(3_200);
    expect(end.ms).toBeLessThan(LATE_MS);
  });

  test.concurrent("is told again when it fails twice", async () => {
    const pod = await podWith("--drained-when=quiet");
    pod.envoy.faults.push(503, 503);
    expect(await drained(pod)).toMatchObject({ outcome: "drained" });
    expect(await toldBy(pod, 4)).toEqual([FAIL, FAIL, FAIL, DRAIN]);
  });

  test.concurrent("that refuses to drain its listeners is not asked in another way", async () => {
    const pod = await podWith("--drained-when=quiet");
    pod.envoy.always = 400;
    expect(await drained(pod)).toMatchObject({ outcome: "drained" });
    expect(await toldBy(pod, 2)).toEqual([FAIL, DRAIN]);
    expect(notes(pod).join("\n")).toContain("drain_listeners?graceful&skip_exit: status 400");
  });

  test.concurrent("that was started anew in the drain is told again", async () => {
    const pod = await podWith();
    pod.envoy.stats = () => listenerLines("0.0.0.0_8080", { connections: 1, http: { prefix: "web", requests: 1 } });
    const end = drained(pod);
    expect(await toldBy(pod, 2)).toEqual([FAIL, DRAIN]);
    pod.envoy.restart();
    expect(await toldBy(pod, 4)).toEqual([FAIL, DRAIN, FAIL, DRAIN]);
    expect([pod.envoy.health, pod.envoy.draining]).toEqual(["failed", true]);
    pod.envoy.stats = () => listenerLines("0.0.0.0_8080");
    expect(await end).toMatchObject({ outcome: "drained" });
  });

  test.concurrent("that is not there leaves the sockets to decide", async () => {
    const pod = await podWith();
    await pod.envoy.stop();
    const end = await drained(pod);
    expect(end.outcome).toBe("drained");
    expect(end.ms).toBeLessThan(LATE_MS);
    expect(notes(pod).join("\n")).toContain("sockets decide instead: Envoy's admin interface cannot be reached");
  });

  test.concurrent("that starts anew as its Pod is told to end is waited for, told, and drained", async () => {
    const pod = await podWith();
    await endApp(pod.app);
    pod.envoy.always = "refuse";
    const end = drained(pod);
    await until(() => pod.envoy.asked() >= 3);
    pod.envoy.stats = () => listenerLines("0.0.0.0_8080", { connections: 1, http: { prefix: "web", requests: 1 } });
    pods.push({ ...pod, app: await startApp(pod.manager.address) });
    pod.envoy.always = undefined;
    await until(() => pod.envoy.health === "failed" && pod.envoy.draining);
    pod.envoy.stats = () => listenerLines("0.0.0.0_8080");
    expect(await end).toMatchObject({ outcome: "drained", why: expect.stringContaining("no request was active") });
  });

  test.concurrent("that never starts holds its Pod for five seconds", async () => {
    const pod = await podWith();
    await endApp(pod.app);
    await pod.envoy.stop();
    const end = await drained(pod);
    expect(end).toMatchObject({
      outcome: "not-needed",
      why: expect.stringMatching(/did not come within 5(\.[0-9])?s/),
    });
    expect(end.ms).toBeGreaterThan(4_950);
    expect(end.ms).toBeLessThan(LATE_MS);
  });

  test.concurrent("that hangs is waited for to the deadline: traffic may still flow", async () => {
    const pod = await podWith("--drain-timeout=4s");
    pod.envoy.always = "hang";
    const end = await drained(pod);
    expect(end.outcome).toBe("timeout");
    expect(end.why).toContain("the driver could not tell");
    expect(end.ms).toBeLessThan(LATE_MS);
  });

  test.concurrent("that answers late is told as soon as it answers", async () => {
    const pod = await podWith();
    pod.envoy.stats = () => {
      const requests = pod.envoy.draining ? 0 : 1;
      return listenerLines("0.0.0.0_8080", { connections: 1, http: { prefix: "web", requests } });
    };
    pod.envoy.always = "hang";
    const end = drained(pod);
    await pause(2_500);
    pod.envoy.always = undefined;
    expect(await end).toMatchObject({ outcome: "drained" });
    expect([pod.envoy.health, pod.envoy.draining]).toEqual(["failed", true]);
  });

  test.concurrent.for([
    { says: "none", stats: () => [], bare: true },
    { says: "those of others", stats: () => ["server.live: 1"], bare: true },
    { says: "connections only", stats: () => ["listener.0.0.0.0_8080.downstream_cx_active: 0"], bare: true },
    { says: "its own and internal listeners", stats: () => listenerLines("envoy_internal_x"), bare: false },
  ])("whose statistics are $says leaves the sockets to decide", async ({ stats, bare }) => {
    const pod = await podWith();
    if (bare) pod.envoy.bareStats = stats;
    else pod.envoy.stats = stats;
    const slow = pod.app.slow(3_500);
    const end = await drained(pod);
    await slow;
    expect(end.outcome).toBe("drained");
    expect(end.ms).toBeGreaterThan(3_800);
    expect(end.ms).toBeLessThan(LATE_MS);
    expect(notes(pod).join("\n")).toContain("driver cannot count, sockets decide instead");
  });

  test.concurrent("with a thousand listeners costs the manager little memory", async () => {
    const pod = await podWith("--drain-timeout=3s");
    const lines = Array.from({ length: 1_000 }, (_, n) =>
      listenerLines(`0.0.0.0_${20_000 + n}`, {
        connections: 1,
        http: { prefix: `web-${n}`, requests: n === 7 ? 1 : 0 },
      }),
    ).flat();
    pod.envoy.stats = () => lines;
    const before = residentKiB(pod.manager.pid);
    const end = drained(pod);
    await pause(3_000);
    const after = residentKiB(pod.manager.pid);
    expect(await end).toMatchObject({ outcome: "timeout", why: expect.stringContaining("1 active request") });
    if (build.name === "native") expect(after).toBeLessThan(6_144);
    else expect(after - before).toBeLessThan(65_536);
  });
});
