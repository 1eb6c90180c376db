/** An address as four 32-bit words, most significant first; IPv4 as `::ffff:a.b.c.d`, so that either spelling is one address. */
export type Address = { readonly a: number; readonly b: number; readonly c: number; readonly d: number };

const MAPPED = 0xffff;

/** @param word most significant byte first */
export function ipv4Address(word: number): Address {
  return { a: 0, b: 0, c: MAPPED, d: word };
}

export function isIpv4({ a, b, c }: Address): boolean {
  return c === MAPPED && a === 0 && b === 0;
}

export function isSameAddress(one: Address, other: Address): boolean {
  return one.d === other.d && one.c === other.c && one.b === other.b && one.a === other.a;
}

export function isLoopback(address: Address): boolean {
  if (isIpv4(address)) return address.d >>> 24 === 127;
  return isShort(address, 1);
}

export function isAny(address: Address): boolean {
  return (isIpv4(address) && address.d === 0) || isShort(address, 0);
}

/** Istio's sidecar hands inbound connections to the app from 127.0.0.6 and ::6: they are those of other clients, passed on. */
export function isMeshInbound(address: Address): boolean {
  return (isIpv4(address) && address.d === 0x7f000006) || isShort(address, 6);
}

function isShort({ a, b, c, d }: Address, last: number): boolean {
  return d === last && a === 0 && b === 0 && c === 0;
}
