/** What happens to the draining Pods of the relay's benchmark: they begin to ask, and are withdrawn. */
import { join } from "node:path";
import type { Access } from "./relay-access.ts";
import {
  type Asked,
  type AskOrder,
  type Child,
  startChild,
  type Withdrawn,
  type WithdrawOrder,
} from "./relay-messages.ts";
import { podAt } from "./relay-world.ts";

/** As many begin as are withdrawn in a second: 5 000 at once are then drains of 50 s each. */
export const STREAMS_PER_SECOND = 100;

/** A line that takes longer is not waited for. */
const LINE_LIMIT_MS = 30_000;
const LOOK_AGAIN_MS = 200;

export type Scene = { readonly port: number; readonly api: Child; readonly askers: readonly Child[] };

/** Every asker opens its share; resolves when all were told that they are in. */
export async function openStreams({ port, askers }: Scene, access: Access, pods: readonly number[]): Promise<void> {
  const perSecond = STREAMS_PER_SECOND / askers.length;
  const orders = askers.map((asker, index) => {
    const questions = pods.filter((_pod, place) => place % askers.length === index).map(podAt);
    return asker.order<Asked>({ port, ...access, questions, perSecond, heartbeat: false } satisfies AskOrder);
  });
  await Promise.all(orders);
}

/** Pods that wait for nothing else, beside all others, until the answer is called. */
export async function openHeartbeats(
  port: number,
  access: Access,
  pods: readonly number[],
): Promise<() => Promise<void>> {
  const asker = startAsker();
  const questions = pods.map(podAt);
  const order: AskOrder = { port, ...access, questions, perSecond: STREAMS_PER_SECOND, heartbeat: true };
  try {
    await asker.order<Asked>(order);
  } catch (error) {
    await asker.stop();
    throw error;
  }
  return asker.stop;
}

export function startAsker(): Child {
  return startChild(join(import.meta.dirname, "relay-asker.ts"));
}

/** What the Pods have read until now. */
export async function asked({ askers }: Scene): Promise<Asked> {
  const all = await Promise.all(askers.map((asker) => asker.order<Asked>(null)));
  return {
    outMs: Object.assign({}, ...all.map((each) => each.outMs)),
    lines: all.reduce((sum, each) => sum + each.lines, 0),
    broken: all.reduce((sum, each) => sum + each.broken, 0),
    why: all.map((each) => each.why).find((text) => text !== "") ?? "",
  };
}

/** Writes the slices of these Pods, and answers how many milliseconds each line took that came. */
export async function withdraw(scene: Scene, order: WithdrawOrder): Promise<number[]> {
  const { sentMs } = await scene.api.order<Withdrawn>(order);
  const startMs = performance.now();
  for (;;) {
    const { outMs } = await asked(scene);
    const took = sentMs.flatMap(([pod, atMs]) => {
      const heardMs = outMs[podAt(pod).uid];
      return heardMs === undefined ? [] : [heardMs - atMs];
    });
    if (took.length === sentMs.length || performance.now() - startMs > LINE_LIMIT_MS) return took;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
