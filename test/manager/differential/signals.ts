/** Scenarios of SIGTERM in every phase, and of an address in use. */
import { createServer } from "node:net";
import { PORT } from "../manager-process.ts";
import { ONE_APP, podEnds, type Scenario, SHORT } from "./scenario.ts";
import type { World } from "./world.ts";

const LONG = ["--drain-delay=40s", "--hooks=app:app"];

/** Starts a drain; `held` are its two calls. */
async function startDrain(world: World, flags: readonly string[]): Promise<{ readonly held: Promise<unknown> }> {
  await world.app();
  await world.serve(flags);
  return { held: podEnds(world) };
}

export const SIGNALS: readonly Scenario[] = [
  {
    title: "SIGTERM arrives without a drain",
    play: async (world) => {
      await world.app();
      await world.serve(ONE_APP);
      await world.stop();
    },
  },
  {
    title: "SIGTERM arrives without a drain during a client's request",
    play: async (world) => {
      await world.app();
      await world.serve(ONE_APP);
      void world.visit("/?ms=20000");
      await world.clock.wait(300);
      await world.stop();
    },
  },
  {
    title: "SIGTERM arrives while a single hook waits for its answer",
    play: async (world) => {
      await world.app();
      await world.serve(ONE_APP);
      const hook = world.hook("hook");
      await world.clock.wait(1_000);
      await world.stop();
      await hook;
    },
  },
  {
    title: "SIGTERM arrives during the delay",
    play: async (world) => {
      const drain = await startDrain(world, LONG);
      await world.phase("withdrawing");
      await world.clock.wait(500);
      await world.stop();
      await drain.held;
    },
  },
  {
    title: "SIGTERM arrives while the drain waits for traffic",
    play: async (world) => {
      const drain = await startDrain(world, ["--drain-delay=300ms", "--quiet-period=40s", "--hooks=app:app"]);
      await world.phase("draining");
      await world.clock.wait(500);
      await world.stop();
      await drain.held;
    },
  },
  {
    title: "SIGTERM arrives while the proxy's hook waits for its answer",
    play: async (world) => {
      await world.app();
      await world.serve([...SHORT.slice(0, 3), "--app-grace=30s", "--hooks=app:app,mesh:mesh-proxy"]);
      const held = [world.hook("hook"), world.hook("mesh", "mesh"), world.drain("own")];
      await world.phase("holding");
      await world.clock.wait(500);
      await world.stop();
      await Promise.all(held);
    },
  },
  {
    title: "SIGTERM arrives after the drain",
    play: async (world) => {
      const drain = await startDrain(world, ONE_APP);
      await drain.held;
      await world.stop();
    },
  },
  {
    title: "SIGTERM arrives once in classic mode and the drain continues",
    play: async (world) => {
      await world.app();
      const manager = await world.serve(["--drain-delay=2s", "--quiet-period=500ms", "--classic", "--hooks=app:app"]);
      const hook = world.hook("hook");
      const own = world.drain("own");
      await world.phase("withdrawing");
      manager.kill("SIGTERM");
      await hook;
      await world.clock.wait(1_000);
      await world.stop();
      await own;
    },
  },
  {
    title: "SIGTERM arrives twice in classic mode",
    play: async (world) => {
      await world.app();
      const manager = await world.serve([...LONG, "--classic"]);
      const held = [world.hook("hook"), world.drain("own")];
      await world.phase("withdrawing");
      manager.kill("SIGTERM");
      await world.clock.wait(1_000);
      await world.stop();
      await Promise.all(held);
    },
  },
  {
    title: "the manager's port is in use at its start",
    play: async (world) => {
      const blocker = createServer();
      await new Promise<void>((resolve) => blocker.listen(PORT, world.address, resolve));
      const manager = await world.serve(ONE_APP);
      await new Promise<void>((resolve) => blocker.close(() => resolve()));
      await manager.until((line) => line["message"] === "listening");
      await world.status("after");
      await world.stop();
    },
  },
];
