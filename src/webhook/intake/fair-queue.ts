/** A round-robin queue by client address. */

type FairQueue<T> = {
  readonly push: (address: string, item: T) => void;
  readonly shift: () => T | undefined;
  readonly isEmpty: () => boolean;
};

export function fairQueue<T>(): FairQueue<T> {
  const waiting = new Map<string, T[]>();
  return {
    push: (address, item) => {
      const items = waiting.get(address);
      if (items === undefined) waiting.set(address, [item]);
      else items.push(item);
    },
    shift: () => {
      for (const [address, items] of waiting) {
        const item = items.shift();
        if (waiting.size === 1 && items.length > 0) return item;
        waiting.delete(address);
        if (items.length > 0) waiting.set(address, items);
        return item;
      }
      return undefined;
    },
    isEmpty: () => waiting.size === 0,
  };
}
