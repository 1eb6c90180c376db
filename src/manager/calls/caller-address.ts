/** Where a call comes from. Pure. */

/** An IPv4 caller of a dual-stack listener shows as IPv6; everyone else writes it plainly. */
export function plainAddress(address: string): string {
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}

/** The caller is in the Pod itself. A Pod that shares its network namespace calls from the one address that is its own. */
export function isLocalCaller(address: string, addressScope: string): boolean {
  if (addressScope !== "" && address === addressScope) return true;
  return address.startsWith("127.") || address === "::1";
}
