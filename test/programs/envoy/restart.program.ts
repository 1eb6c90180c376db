/** Kills and restarts a real Envoy during its drain, as a supervisor inside its container would. */
import type { Socket } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { NATIVE_BUILD, NODE_BUILD } from "../../manager/builds.ts";
import { endManagers } from "../../manager/manager-process.ts";
import { pause } from "../../time/pause.ts";
import { requireProgram } from "../install/program-of.ts";
import {
  DELAY_MS,
  openTcpSession,
  type PodEnd,
  readConnectionHeader,
  type SinglePod,
  startSinglePod,
} from "./single-pod.ts";

afterAll(endManagers);

const build = NATIVE_BUILD.command === "" ? NODE_BUILD : NATIVE_BUILD;
/** The manager starts the drain of a new Envoy process at the manager's next sample, which a busy machine may delay. */
const LIMIT_MS = 15_000;
/** Longer than the time from a new process's first response to its first client on a busy machine. */
const QUIET_MS = 3_000;
/** Tolerance for the sampling intervals of the manager and of this test. */
const SAMPLING_MS = 500;
/** Time for which the manager waits for a proxy that no longer responds. */
const UNREACHABLE_LIMIT_MS = 5_000;

describe.for(["envoy-1.40", "envoy-1.36"] as const)("an %s", (name) => {
  test("that restarts during its drain gets the drain request again, and the drain lasts until its clients leave", async (context) => {
    const pod = await startSinglePod({ program: await requireProgram(name, context), build, quietMs: QUIET_MS });
    context.onTestFinished(pod.stop);
    const oldSession = await openTcpSession(pod);
    let podEnd: PodEnd | undefined;
    const ending = pod.end().then((end) => {
      podEnd = end;
    });
    await pause(DELAY_MS + 500, "a step of the scenario");
    expect(await readConnectionHeader(pod)).toBe("close");
    await pod.envoy.crash();
    // Without a client from the start of the new process, the drain would end after a quiet period.
    const [newSession] = await Promise.all([openSessionOnceReady(pod), pod.envoy.restart()]);
    oldSession.destroy();
    await expectConnectionClose(pod);
    await pause(QUIET_MS + SAMPLING_MS, "a step of the scenario");
    expect(podEnd).toBeUndefined();
    newSession.destroy();
    const closedMs = performance.now();
    await ending;
    expect(podEnd).toMatchObject({ status: 200, outcome: "drained" });
    expect(performance.now() - closedMs).toBeGreaterThan(QUIET_MS - SAMPLING_MS);
    expect(performance.now() - closedMs).toBeLessThan(LIMIT_MS);
  });

  test("that hot-restarts during its drain gets the drain request again", async (context) => {
    const program = await requireProgram(name, context);
    const pod = await startSinglePod({ program, build, quietMs: QUIET_MS, hotRestart: true });
    context.onTestFinished(pod.stop);
    // This session keeps the drain running until the old process exits.
    const oldSession = await openTcpSession(pod);
    const ending = pod.end();
    await pause(DELAY_MS + 500, "a step of the scenario");
    expect(await readConnectionHeader(pod)).toBe("close");
    await pod.envoy.hotRestart();
    const newSession = await openSessionOnceReady(pod);
    oldSession.destroy();
    await expectConnectionClose(pod);
    newSession.destroy();
    expect(await ending).toMatchObject({ status: 200, outcome: "drained" });
  });

  test("that starts after the deletion of its Pod gets the drain request, and the drain lasts until its clients leave", async (context) => {
    const pod = await startSinglePod({ program: await requireProgram(name, context), build, quietMs: QUIET_MS });
    context.onTestFinished(pod.stop);
    await pod.envoy.crash();
    const ending = pod.end();
    await pause(SAMPLING_MS, "a step of the scenario");
    const [newSession] = await Promise.all([openSessionOnceReady(pod), pod.envoy.restart()]);
    await expectConnectionClose(pod);
    newSession.destroy();
    expect(await ending).toMatchObject({ status: 200, outcome: "drained" });
  });

  test("that is killed during its drain and does not restart delays the end of the drain by five seconds", async (context) => {
    const pod = await startSinglePod({ program: await requireProgram(name, context), build, quietMs: QUIET_MS });
    context.onTestFinished(pod.stop);
    const session = await openTcpSession(pod);
    const ending = pod.end();
    await pause(DELAY_MS + 1_000, "a step of the scenario");
    await pod.envoy.crash();
    const killedMs = performance.now();
    session.destroy();
    expect(await ending).toMatchObject({ status: 200, outcome: "drained" });
    expect(performance.now() - killedMs).toBeGreaterThan(UNREACHABLE_LIMIT_MS - SAMPLING_MS);
    expect(performance.now() - killedMs).toBeLessThan(LIMIT_MS);
  });
});

async function expectConnectionClose(pod: SinglePod): Promise<void> {
  const untilMs = performance.now() + LIMIT_MS;
  while ((await readConnectionHeader(pod)) !== "close" && performance.now() < untilMs)
    await pause(100, "a step of the scenario");
  expect(await readConnectionHeader(pod)).toBe("close");
}

async function openSessionOnceReady(pod: SinglePod): Promise<Socket> {
  for (;;) {
    const session = await openTcpSession(pod).catch(() => undefined);
    if (session !== undefined) return session;
    await pause(20, "a step of the scenario");
  }
}
