/** A round-robin queue by client address. */

type FairQueue<T> = {
  readonly push: (address: string, item: T) => void;
  readonly shift: () => T | undefined;
  readonly isEmpty: () => boolean;
};

export function createFairQueue<T>(): FairQueue<T> {
  const itemsByAddress = new Map<string, T[]>();
  return {
    push: (address, item) => {
      const items = itemsByAddress.get(address);
      if (items === undefined) itemsByAddress.set(address, [item]);
      else items.push(item);
    },
    shift: () => {
      for (const [address, items] of itemsByAddress) {
        const item = items.shift();
        if (itemsByAddress.size === 1 && items.length > 0) return item;
        itemsByAddress.delete(address);
        if (items.length > 0) itemsByAddress.set(address, items);
        return item;
      }
      return undefined;
    },
    isEmpty: () => itemsByAddress.size === 0,
  };
}
