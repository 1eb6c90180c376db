/** Stories of drains with a relay. The client of either build has long started when a delay is over. */
import { startRelay, statusLine } from "../fake-relay.ts";
import type { Scenario } from "./scenario.ts";
import type { World } from "./world.ts";

const FLAGS = ["--drain-delay=20s", "--quiet-period=300ms", "--drain-timeout=40s", "--app-grace=1s", "--hooks=app:app"];

/** With the own hook first: a native client may have asked the relay before the kubelet's next call. */
async function podIsDeleted(world: World): Promise<void> {
  const own = world.drain("own");
  await world.phase("withdrawing");
  await Promise.all([own, world.hook("hook")]);
}

export const RELAYS: readonly Scenario[] = [
  {
    says: "the Pod is long out of rotation",
    play: async (world) => {
      const relay = await startRelay({
        first: statusLine({ state: "out", reason: "shop" }),
        clock: world.clock,
      });
      await world.app();
      await world.serve(FLAGS, relay.env);
      await podIsDeleted(world);
      world.tell("notice", { ...(await relay.reported()), report: "compared in the log" });
      await world.stop();
    },
  },
  {
    says: "the Pod leaves the rotation after the delay",
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
    says: "the relay cannot be reached in the end",
    play: async (world) => {
      const relay = await startRelay({ first: statusLine({ terminating: false }), clock: world.clock });
      await relay.die();
      await world.app();
      const manager = await world.serve(FLAGS, relay.env);
      await podIsDeleted(world);
      await manager.until((said) => said["message"] === "cannot report to the relay");
      await world.stop();
    },
  },
  {
    says: "its relay has a variable too few",
    play: async (world) => {
      const relay = await startRelay({ clock: world.clock });
      await world.app();
      await world.serve(["--drain-delay=4s", ...FLAGS.slice(1)], { ...relay.env, LASTCALL_RELAY_NAME: "" });
      await podIsDeleted(world);
      await world.stop();
    },
  },
];
