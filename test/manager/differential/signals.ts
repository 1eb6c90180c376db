/** Stories of a manager that is told to stop, in every phase, and of addresses it cannot have. */
import { createServer } from "node:net";
import { PORT } from "../manager-process.ts";
import { ONE_APP, podEnds, type Scenario, SHORT } from "./scenario.ts";
import type { World } from "./world.ts";

const LONG = ["--drain-delay=40s", "--hooks=app:app"];

/** A drain that has begun; `held` are its two callers. */
async function begun(world: World, flags: readonly string[]): Promise<{ readonly held: Promise<unknown> }> {
  await world.app();
  await world.serve(flags);
  return { held: podEnds(world) };
}

export const SIGNALS: readonly Scenario[] = [
  {
    says: "SIGTERM comes while nothing happens",
    play: async (world) => {
      await world.app();
      await world.serve(ONE_APP);
      await world.stop();
    },
  },
  {
    says: "SIGTERM comes while nothing was asked and a client is served",
    play: async (world) => {
      await world.app();
      await world.serve(ONE_APP);
      void world.visit("/?ms=20000");
      await world.clock.wait(300);
      await world.stop();
    },
  },
  {
    says: "SIGTERM comes while a lone hook waits",
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
    says: "SIGTERM comes during the delay",
    play: async (world) => {
      const ended = await begun(world, LONG);
      await world.phase("withdrawing");
      await world.clock.wait(500);
      await world.stop();
      await ended.held;
    },
  },
  {
    says: "SIGTERM comes while traffic is waited for",
    play: async (world) => {
      const ended = await begun(world, ["--drain-delay=300ms", "--quiet-period=40s", "--hooks=app:app"]);
      await world.phase("draining");
      await world.clock.wait(500);
      await world.stop();
      await ended.held;
    },
  },
  {
    says: "SIGTERM comes while a proxy is held",
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
    says: "SIGTERM comes when all is done",
    play: async (world) => {
      const ended = await begun(world, ONE_APP);
      await ended.held;
      await world.stop();
    },
  },
  {
    says: "SIGTERM comes once in classic mode and the drain goes on",
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
    says: "SIGTERM comes twice in classic mode",
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
    says: "the port is taken at first",
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
