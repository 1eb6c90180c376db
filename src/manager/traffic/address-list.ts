/** Assigns stable indexes to a limited number of addresses, and caches the last lookup. */
import { type Address, isSameAddress } from "../sockets/address-text.ts";

type AddressList = {
  /** @returns -1 if the address is not in the list */
  readonly indexOf: (address: Address) => number;
  /** @returns the index, or -1 if the list is full */
  readonly add: (address: Address) => number;
};

export function createAddressList(limit: number): AddressList {
  const addresses: Address[] = [];
  let lastIndex = 0;

  const indexOf = (address: Address): number => {
    const lastFound = addresses[lastIndex];
    if (lastFound !== undefined && isSameAddress(lastFound, address)) return lastIndex;
    for (let index = 0; index < addresses.length; index = index + 1) {
      const candidate = addresses[index];
      if (candidate === undefined || !isSameAddress(candidate, address)) continue;
      lastIndex = index;
      return index;
    }
    return -1;
  };
  return {
    indexOf,
    add: (address) => {
      const index = indexOf(address);
      if (index >= 0 || addresses.length >= limit) return index;
      addresses.push(address);
      return addresses.length - 1;
    },
  };
}
