/** What happens to the draining Pods of the relay's benchmark: they begin to ask, and are withdrawn. */
import type { Access } from "./relay-access.ts";
import type { Asked, AskOrder, Child, Withdrawn, WithdrawOrder } from "./relay-messages.ts";
import { podAt } from "./relay-world.ts";

/** 5 000 Pods begin to drain within 20 s. */
export const STREAMS_PER_SECOND = 250;

/** A line that takes longer is not waited for. */
const LINE_LIMIT_MS = 30_000;
const LOOK_AGAIN_MS = 200;

export type Scene = { readonly port: number; readonly api: Child; readonly askers: readonly Child[] };

/** Every asker opens its share; resolves when all were told that they are in. */
export async function openStreams({ port, askers }: Scene, access: Access, pods: readonly number[]): Promise<void> {
  const orders = askers.map((asker, index) => {
    const questions = pods.filter((_pod, place) => place % askers.length === index).map(podAt);
    const order: AskOrder = { port, ...access, questions, perSecond: STREAMS_PER_SECOND / askers.length };
    return asker.order<Asked>(order);
  });
  await Promise.all(orders);
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
