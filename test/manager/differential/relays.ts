/** Scenarios of drains with a relay. The drain delays are longer than the start of the relay client in either build. */
import { startRelay, statusLine } from "../fake-relay.ts";
import type { Scenario } from "./scenario.ts";
import type { SimulatedPod } from "./simulated-pod.ts";

const FLAGS = ["--drain-delay=20s", "--quiet-period=300ms", "--drain-timeout=40s", "--app-grace=1s", "--hooks=app:app"];

/** Calls the manager's own hook first, because a native relay client may reach the relay before the app's hook is called. */
async function deletePod(pod: SimulatedPod): Promise<void> {
  const drainCall = pod.requestDrain("own");
  await pod.untilPhase("withdrawing");
  await Promise.all([drainCall, pod.callHook("hook")]);
}

export const RELAYS: readonly Scenario[] = [
  {
    title: "the relay reports the withdrawal before the end of the drain delay",
    play: async (pod) => {
      const relay = await startRelay({
        firstStatus: statusLine({ state: "out", reason: "shop" }),
        clock: pod.clock,
      });
      await pod.startApp();
      await pod.serve(FLAGS, relay.env);
      await deletePod(pod);
      pod.record("report", { ...(await relay.untilReported()), report: "compared in the log" });
      await pod.stop();
    },
  },
  {
    title: "the relay reports the withdrawal after the drain delay",
    play: async (pod) => {
      const relay = await startRelay({ clock: pod.clock });
      await pod.startApp();
      await pod.serve(FLAGS, relay.env);
      const deletion = deletePod(pod);
      await pod.clock.wait(25_000);
      await pod.requestStatus("offered");
      relay.send(statusLine({ state: "out" }));
      await deletion;
      await relay.untilReported();
      await pod.stop();
    },
  },
  {
    title: "the relay is unreachable when the manager sends its report",
    play: async (pod) => {
      const relay = await startRelay({ firstStatus: statusLine({ terminating: false }), clock: pod.clock });
      await relay.crash();
      await pod.startApp();
      const manager = await pod.serve(FLAGS, relay.env);
      await deletePod(pod);
      await manager.untilLogged((line) => line["message"] === "cannot report to the relay");
      await pod.stop();
    },
  },
  {
    title: "a variable of the relay is missing",
    play: async (pod) => {
      const relay = await startRelay({ clock: pod.clock });
      await pod.startApp();
      await pod.serve(["--drain-delay=4s", ...FLAGS.slice(1)], { ...relay.env, LASTCALL_RELAY_NAME: "" });
      await deletePod(pod);
      await pod.stop();
    },
  },
];
