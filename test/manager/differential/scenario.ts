/** Defines the scenarios in which the tests compare the manager's two builds. */
import type { SimulatedPod } from "./simulated-pod.ts";

export type Scenario = {
  /** Completes a test title after "when" or "with". */
  readonly title: string;
  readonly play: (pod: SimulatedPod) => Promise<void>;
};

/**
 * Flags of a short drain. The quiet period ends well before the drain delay. If both ended together, the kernel's rounded
 * ages would decide whether the drain needs one sample or two.
 */
export const SHORT_DRAIN = ["--drain-delay=1s", "--quiet-period=300ms", "--drain-timeout=20s", "--app-grace=1s"];
export const ONE_APP = [...SHORT_DRAIN, "--hooks=app:app"];

/** Calls the hooks like the kubelet, but 100 ms apart, so their order is fixed. */
export async function terminatePod(pod: SimulatedPod): Promise<void> {
  const hook = pod.callHook("hook");
  await pod.clock.wait(100);
  await Promise.all([hook, pod.requestDrain("own")]);
}
