/** Scenarios of drains with a relay. The drain delays are longer than the start of the relay client in either build. */
import { startRelay, statusLine } from "../fake-relay.ts";
import type { Scenario } from "./scenario.ts";
import type { SimulatedPod } from "./simulated-pod.ts";

const FLAGS = ["--drain-delay=20s", "--quiet-period=300ms", "--drain-timeout=40s", "--app-grace=1s", "--hooks=app:app"];

/** Calls the manager's own hook first, because a native relay client may reach the relay before the app's hook is called. */
async function podIsDeleted(pod: SimulatedPod): Promise<void> {
  const own = pod.drain("own");
  await pod.phase("withdrawing");
  await Promise.all([own, pod.hook("hook")]);
}

export const RELAYS: readonly Scenario[] = [
  {
    title: "the relay reports the withdrawal before the end of the drain delay",
    play: async (pod) => {
      const relay = await startRelay({
        first: statusLine({ state: "out", reason: "shop" }),
        clock: pod.clock,
      });
      await pod.app();
      await pod.serve(FLAGS, relay.env);
      await podIsDeleted(pod);
      pod.record("report", { ...(await relay.reported()), report: "compared in the log" });
      await pod.stop();
    },
  },
  {
    title: "the relay reports the withdrawal after the drain delay",
    play: async (pod) => {
      const relay = await startRelay({ clock: pod.clock });
      await pod.app();
      await pod.serve(FLAGS, relay.env);
      const ends = podIsDeleted(pod);
      await pod.clock.wait(25_000);
      await pod.status("offered");
      relay.send(statusLine({ state: "out" }));
      await ends;
      await relay.reported();
      await pod.stop();
    },
  },
  {
    title: "the relay is unreachable when the manager sends its report",
    play: async (pod) => {
      const relay = await startRelay({ first: statusLine({ terminating: false }), clock: pod.clock });
      await relay.crash();
      await pod.app();
      const manager = await pod.serve(FLAGS, relay.env);
      await podIsDeleted(pod);
      await manager.until((line) => line["message"] === "cannot report to the relay");
      await pod.stop();
    },
  },
  {
    title: "a variable of the relay is missing",
    play: async (pod) => {
      const relay = await startRelay({ clock: pod.clock });
      await pod.app();
      await pod.serve(["--drain-delay=4s", ...FLAGS.slice(1)], { ...relay.env, LASTCALL_RELAY_NAME: "" });
      await podIsDeleted(pod);
      await pod.stop();
    },
  },
];
