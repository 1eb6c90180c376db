/** Where a call comes from. Pure. */
import { canonicalAddress, isLoopbackAddress } from "../sockets/address-text.ts";

/** The caller is in the Pod itself. A Pod that shares its network namespace calls from the one address that is its own. */
export function isLocalCaller(address: string, addressScope: string): boolean {
  const caller = canonicalAddress(address);
  return isLoopbackAddress(caller) || (addressScope !== "" && caller === canonicalAddress(addressScope));
}
