/** Defines scenarios that both builds play. */
import type { SimulatedPod } from "./simulated-pod.ts";

export type Scenario = {
  /** Completes a test title after "when" or "with". */
  readonly title: string;
  readonly play: (pod: SimulatedPod) => Promise<void>;
};

/**
 * A short drain. The quiet period ends well before the delay: with equal ends, the coarse ages of the kernel would decide
 * whether one sample or two end the drain.
 */
export const SHORT = ["--drain-delay=1s", "--quiet-period=300ms", "--drain-timeout=20s", "--app-grace=1s"];
export const ONE_APP = [...SHORT, "--hooks=app:app"];

/** Calls the hooks like the kubelet, but far enough apart for a fixed order. */
export async function podEnds(pod: SimulatedPod): Promise<void> {
  const hook = pod.hook("hook");
  await pod.clock.wait(100);
  await Promise.all([hook, pod.drain("own")]);
}
