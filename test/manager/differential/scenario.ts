/** One story, played by both builds. */
import type { World } from "./world.ts";

export type Scenario = {
  /** The sentence the test is called by. */
  readonly says: string;
  readonly play: (world: World) => Promise<void>;
};

/**
 * A short drain; a scenario that wants other values says so. The quiet period is over well before the delay: the kernel's ages
 * are coarse, and where both end together that decides whether one look or two end the drain.
 */
export const SHORT = ["--drain-delay=1s", "--quiet-period=300ms", "--drain-timeout=20s", "--app-grace=1s"];
export const ONE_APP = [...SHORT, "--hooks=app:app"];

/** The Pod's end as the kubelet makes it, but never so close together that the kernel decides whose call comes first. */
export async function podEnds(world: World): Promise<void> {
  const hook = world.hook("hook");
  await world.clock.wait(100);
  await Promise.all([hook, world.drain("own")]);
}
