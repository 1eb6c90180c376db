/** Scenarios of drains with a relay. Delays exceed the start of the client in either build. */
import { startRelay, statusLine } from "../fake-relay.ts";
import type { Scenario } from "./scenario.ts";
import type { World } from "./world.ts";

const FLAGS = ["--drain-delay=20s", "--quiet-period=300ms", "--drain-timeout=40s", "--app-grace=1s", "--hooks=app:app"];

/** The manager's own hook is first, because a native client may reach the relay before the next hook. */
async function podIsDeleted(world: World): Promise<void> {
  const own = world.drain("own");
  await world.phase("withdrawing");
  await Promise.all([own, world.hook("hook")]);
}

export const RELAYS: readonly Scenario[] = [
  {
    title: "the relay reports the withdrawal before the end of the drain delay",
    play: async (world) => {
      const relay = await startRelay({
        first: statusLine({ state: "out", reason: "shop" }),
        clock: world.clock,
      });
      await world.app();
      await world.serve(FLAGS, relay.env);
      await podIsDeleted(world);
      world.record("notice", { ...(await relay.reported()), report: "compared in the log" });
      await world.stop();
    },
  },
  {
    title: "the relay reports the withdrawal after the drain delay",
    play: async (world) => {
      const relay = await startRelay({ clock: world.clock });
      await world.app();
      await world.serve(FLAGS, relay.env);
      const ends = podIsDeleted(world);
      await world.clock.wait(25_000);
      await world.status("offered");
      relay.send(statusLine({ state: "out" }));
      await ends;
      await relay.reported();
      await world.stop();
    },
  },
  {
    title: "the relay is unreachable when the manager sends its report",
    play: async (world) => {
      const relay = await startRelay({ first: statusLine({ terminating: false }), clock: world.clock });
      await relay.die();
      await world.app();
      const manager = await world.serve(FLAGS, relay.env);
      await podIsDeleted(world);
      await manager.until((line) => line["message"] === "cannot report to the relay");
      await world.stop();
    },
  },
  {
    title: "a variable of the relay is missing",
    play: async (world) => {
      const relay = await startRelay({ clock: world.clock });
      await world.app();
      await world.serve(["--drain-delay=4s", ...FLAGS.slice(1)], { ...relay.env, LASTCALL_RELAY_NAME: "" });
      await podIsDeleted(world);
      await world.stop();
    },
  },
];
