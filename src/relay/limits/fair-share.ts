/** Dividing what there is a fixed number of among namespaces that may be hostile. Pure. */

export type FairShare = {
  /** Whether one more may be taken; each that was is to be given back once. */
  readonly take: (namespace: string) => boolean;
  readonly giveBack: (namespace: string) => void;
  readonly taken: () => number;
};

/**
 * A namespace may have as many as are still free for all: one that floods is stopped at half of them, two at a third
 * each, and there is always room for the next.
 */
export function fairShare(limit: number): FairShare {
  const byNamespace = new Map<string, number>();
  let taken = 0;
  return {
    take: (namespace) => {
      const own = byNamespace.get(namespace) ?? 0;
      if (own >= limit - taken) return false;
      taken += 1;
      byNamespace.set(namespace, own + 1);
      return true;
    },
    giveBack: (namespace) => {
      const own = byNamespace.get(namespace) ?? 0;
      taken -= 1;
      if (own <= 1) byNamespace.delete(namespace);
      else byNamespace.set(namespace, own - 1);
    },
    taken: () => taken,
  };
}
