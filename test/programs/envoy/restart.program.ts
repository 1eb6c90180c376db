/** A real Envoy that is killed and started again in the middle of its drain, as a supervisor inside its container would. */
import type { Socket } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { NATIVE_BUILD, NODE_BUILD } from "../../manager/builds.ts";
import { endManagers } from "../../manager/manager-process.ts";
import { pause } from "../../time/pause.ts";
import { requiredProgram } from "../install/program-of.ts";
import { DELAY_MS, type LonePod, type PodEnd, startLonePod, tcpSession, toldToClient } from "./lone-pod.ts";

afterAll(endManagers);

const build = NATIVE_BUILD.command === "" ? NODE_BUILD : NATIVE_BUILD;
/** A new process is told with the next count; the machine may be busy. */
const LATE_MS = 15_000;
/** Longer than a new process takes from its first answer to its first client, on a busy machine too. */
const QUIET_MS = 3_000;
/** Between two looks, here and there. */
const GRAIN_MS = 500;
/** The longest that a proxy which was there is waited for. */
const GONE_AFTER_MS = 5_000;

describe.for(["envoy-1.40", "envoy-1.36"] as const)("an %s", (name) => {
  test("that was started again in its drain is told again, and its new clients are waited for", async (context) => {
    const pod = await startLonePod({ program: await requiredProgram(name, context), build, quietMs: QUIET_MS });
    context.onTestFinished(pod.stop);
    const before = await tcpSession(pod);
    let ended: PodEnd | undefined;
    const ending = pod.end().then((end) => {
      ended = end;
    });
    await pause(DELAY_MS + 500, "a step of the scene");
    expect(await toldToClient(pod)).toBe("close");
    await pod.envoy.crash();
    // The new process has a client from its first moment on, or it would be quiet for good reason.
    const [stays] = await Promise.all([firstSession(pod), pod.envoy.startAgain()]);
    before.destroy();
    await expectClientsSentAway(pod);
    await pause(QUIET_MS + GRAIN_MS, "a step of the scene");
    expect(ended).toBeUndefined();
    stays.destroy();
    const leftMs = performance.now();
    await ending;
    expect(ended).toMatchObject({ status: 200, outcome: "drained" });
    expect(performance.now() - leftMs).toBeGreaterThan(QUIET_MS - GRAIN_MS);
    expect(performance.now() - leftMs).toBeLessThan(LATE_MS);
  });

  test("that is taken over from in its drain leaves one that is told as well", async (context) => {
    const program = await requiredProgram(name, context);
    const pod = await startLonePod({ program, build, quietMs: QUIET_MS, hotRestart: true });
    context.onTestFinished(pod.stop);
    // Cut when the old process leaves; until then it holds the drain.
    const before = await tcpSession(pod);
    const ending = pod.end();
    await pause(DELAY_MS + 500, "a step of the scene");
    expect(await toldToClient(pod)).toBe("close");
    await pod.envoy.takeOver();
    const stays = await firstSession(pod);
    before.destroy();
    await expectClientsSentAway(pod);
    stays.destroy();
    expect(await ending).toMatchObject({ status: 200, outcome: "drained" });
  });

  test("that starts when its Pod is told to end is told, and its clients are waited for", async (context) => {
    const pod = await startLonePod({ program: await requiredProgram(name, context), build, quietMs: QUIET_MS });
    context.onTestFinished(pod.stop);
    await pod.envoy.crash();
    const ending = pod.end();
    await pause(GRAIN_MS, "a step of the scene");
    const [stays] = await Promise.all([firstSession(pod), pod.envoy.startAgain()]);
    await expectClientsSentAway(pod);
    stays.destroy();
    expect(await ending).toMatchObject({ status: 200, outcome: "drained" });
  });

  test("that is killed in its drain and does not come back holds its Pod for five seconds", async (context) => {
    const pod = await startLonePod({ program: await requiredProgram(name, context), build, quietMs: QUIET_MS });
    context.onTestFinished(pod.stop);
    const client = await tcpSession(pod);
    const ending = pod.end();
    await pause(DELAY_MS + 1_000, "a step of the scene");
    await pod.envoy.crash();
    const killedMs = performance.now();
    client.destroy();
    expect(await ending).toMatchObject({ status: 200, outcome: "drained" });
    expect(performance.now() - killedMs).toBeGreaterThan(GONE_AFTER_MS - GRAIN_MS);
    expect(performance.now() - killedMs).toBeLessThan(LATE_MS);
  });
});

/** The process that runs there now has been told that it drains. */
async function expectClientsSentAway(pod: LonePod): Promise<void> {
  const untilMs = performance.now() + LATE_MS;
  while ((await toldToClient(pod)) !== "close" && performance.now() < untilMs) await pause(100, "a step of the scene");
  expect(await toldToClient(pod)).toBe("close");
}

/** Dials until someone listens. */
async function firstSession(pod: LonePod): Promise<Socket> {
  for (;;) {
    const session = await tcpSession(pod).catch(() => undefined);
    if (session !== undefined) return session;
    await pause(20, "a step of the scene");
  }
}
