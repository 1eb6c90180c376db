/** Scenarios of SIGTERM in every phase, and of an address in use. */
import { createServer } from "node:net";
import { PORT } from "../manager-process.ts";
import { ONE_APP, type Scenario, SHORT_DRAIN, terminatePod } from "./scenario.ts";
import type { SimulatedPod } from "./simulated-pod.ts";

const LONG_DRAIN_FLAGS = ["--drain-delay=40s", "--hooks=app:app"];

/** Starts a drain. `hookCalls` resolves when the manager has answered both calls. */
async function startDrain(
  pod: SimulatedPod,
  flags: readonly string[],
): Promise<{ readonly hookCalls: Promise<unknown> }> {
  await pod.startApp();
  await pod.serve(flags);
  return { hookCalls: terminatePod(pod) };
}

export const SIGNALS: readonly Scenario[] = [
  {
    title: "SIGTERM arrives without a drain",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve(ONE_APP);
      await pod.stop();
    },
  },
  {
    title: "SIGTERM arrives without a drain during a client's request",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve(ONE_APP);
      void pod.visit("/?ms=20000");
      await pod.clock.wait(300);
      await pod.stop();
    },
  },
  {
    title: "SIGTERM arrives while a single hook waits for its answer",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve(ONE_APP);
      const hook = pod.callHook("hook");
      await pod.clock.wait(1_000);
      await pod.stop();
      await hook;
    },
  },
  {
    title: "SIGTERM arrives during the delay",
    play: async (pod) => {
      const drain = await startDrain(pod, LONG_DRAIN_FLAGS);
      await pod.untilPhase("withdrawing");
      await pod.clock.wait(500);
      await pod.stop();
      await drain.hookCalls;
    },
  },
  {
    title: "SIGTERM arrives while the drain waits for traffic",
    play: async (pod) => {
      const drain = await startDrain(pod, ["--drain-delay=300ms", "--quiet-period=40s", "--hooks=app:app"]);
      await pod.untilPhase("draining");
      await pod.clock.wait(500);
      await pod.stop();
      await drain.hookCalls;
    },
  },
  {
    title: "SIGTERM arrives while the proxy's hook waits for its answer",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve([...SHORT_DRAIN.slice(0, 3), "--app-grace=30s", "--hooks=app:app,mesh:mesh-proxy"]);
      const calls = [pod.callHook("hook"), pod.callHook("mesh", "mesh"), pod.requestDrain("own")];
      await pod.untilPhase("holding");
      await pod.clock.wait(500);
      await pod.stop();
      await Promise.all(calls);
    },
  },
  {
    title: "SIGTERM arrives after the drain",
    play: async (pod) => {
      const drain = await startDrain(pod, ONE_APP);
      await drain.hookCalls;
      await pod.stop();
    },
  },
  {
    title: "SIGTERM arrives once in classic mode and the drain continues",
    play: async (pod) => {
      await pod.startApp();
      const manager = await pod.serve(["--drain-delay=2s", "--quiet-period=500ms", "--classic", "--hooks=app:app"]);
      const hook = pod.callHook("hook");
      const drainCall = pod.requestDrain("own");
      await pod.untilPhase("withdrawing");
      manager.kill("SIGTERM");
      await hook;
      await pod.clock.wait(1_000);
      await pod.stop();
      await drainCall;
    },
  },
  {
    title: "SIGTERM arrives twice in classic mode",
    play: async (pod) => {
      await pod.startApp();
      const manager = await pod.serve([...LONG_DRAIN_FLAGS, "--classic"]);
      const held = [pod.callHook("hook"), pod.requestDrain("own")];
      await pod.untilPhase("withdrawing");
      manager.kill("SIGTERM");
      await pod.clock.wait(1_000);
      await pod.stop();
      await Promise.all(held);
    },
  },
  {
    title: "the manager's port is in use at its start",
    play: async (pod) => {
      const blocker = createServer();
      await new Promise<void>((resolve) => blocker.listen(PORT, pod.address, resolve));
      const manager = await pod.serve(ONE_APP);
      await new Promise<void>((resolve) => blocker.close(() => resolve()));
      await manager.untilLogged((line) => line["message"] === "listening");
      await pod.requestStatus("after");
      await pod.stop();
    },
  },
];
