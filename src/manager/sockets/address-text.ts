/** Parses and formats IP addresses in canonical form: dotted IPv4, RFC 5952 IPv6, IPv4-mapped IPv6 as IPv4. */

export function addressText(address: Address): string {
  const { a, b, c, d } = address;
  if (isIpv4(address)) return `${(d >>> 24) & 255}.${(d >>> 16) & 255}.${(d >>> 8) & 255}.${d & 255}`;
  return groupsText([a >>> 16, a & 0xffff, b >>> 16, b & 0xffff, c >>> 16, c & 0xffff, d >>> 16, d & 0xffff]);
}

export function parseAddress(text: string): Address | undefined {
  if (text.indexOf(":") >= 0) return ipv6Address(text);
  const word = ipv4Word(text);
  return word < 0 ? undefined : ipv4Address(word);
}

export function canonicalAddress(text: string): string {
  if (text.indexOf(":") < 0) return text;
  const address = ipv6Address(text);
  return address === undefined ? text : addressText(address);
}

export function isLoopbackAddress(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}

export function isAnyAddress(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

export function endpointText(address: Address, port: number): string {
  return isIpv4(address) ? `${addressText(address)}:${port}` : `[${addressText(address)}]:${port}`;
}

function groupsText(groups: readonly number[]): string {
  const gap = longestZeros(groups);
  let text = "";
  let index = 0;
  while (index < groups.length) {
    if (index === gap.at) {
      text = `${text}::`;
      index = index + gap.length;
      continue;
    }
    if (text !== "" && !text.endsWith(":")) text = `${text}:`;
    text = `${text}${hexText(groups[index] ?? 0)}`;
    index = index + 1;
  }
  return text;
}

/** Finds the longest run of zero groups, of at least two: RFC 5952 does not shorten a single one. */
function longestZeros(groups: readonly number[]): { readonly at: number; readonly length: number } {
  let at = -1;
  let length = 1;
  let run = 0;
  for (let index = 0; index < groups.length; index = index + 1) {
    run = groups[index] === 0 ? run + 1 : 0;
    if (run > length) {
      length = run;
      at = index - run + 1;
    }
  }
  return { at, length };
}

const HEX = "0123456789abcdef";

function hexText(value: number): string {
  let text = "";
  let rest = value;
  do {
    text = `${HEX.charAt(rest & 15)}${text}`;
    rest = rest >>> 4;
  } while (rest > 0);
  return text;
}

function ipv6Address(text: string): Address | undefined {
  const gap = text.indexOf("::");
  if (gap < 0) {
    const groups = groupsOf(text);
    return groups !== undefined && groups.length === 8 ? addressOf(groups) : undefined;
  }
  const head = groupsOf(text.slice(0, gap));
  const tail = groupsOf(text.slice(gap + 2));
  if (head === undefined || tail === undefined || head.length + tail.length > 7) return undefined;
  const groups: number[] = [];
  for (const group of head) groups.push(group);
  while (groups.length + tail.length < 8) groups.push(0);
  for (const group of tail) groups.push(group);
  return addressOf(groups);
}

function groupsOf(text: string): number[] | undefined {
  const groups: number[] = [];
  if (text === "") return groups;
  for (const part of text.split(":")) {
    if (part.indexOf(".") >= 0) {
      const word = ipv4Word(part);
      if (word < 0) return undefined;
      groups.push(Math.floor(word / 65_536), word % 65_536);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined;
      groups.push(Number(`0x${part}`));
    }
  }
  return groups;
}

function ipv4Word(text: string): number {
  const parts = text.split(".");
  if (parts.length !== 4) return -1;
  let word = 0;
  for (const part of parts) {
    if (!/^[0-9]{1,3}$/.test(part) || Number(part) > 255) return -1;
    word = word * 256 + Number(part);
  }
  return word;
}

function addressOf(groups: readonly number[]): Address {
  return { a: wordAt(groups, 0), b: wordAt(groups, 2), c: wordAt(groups, 4), d: wordAt(groups, 6) };
}

function wordAt(groups: readonly number[], at: number): number {
  return (groups[at] ?? 0) * 65_536 + (groups[at + 1] ?? 0);
}

/** An IPv6 address as four 32-bit words, most significant first. IPv4 is stored as `::ffff:a.b.c.d`. */
export type Address = { readonly a: number; readonly b: number; readonly c: number; readonly d: number };

const MAPPED = 0xffff;

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
  return hasOnlyLastWord(address, 1);
}

export function isAny(address: Address): boolean {
  return (isIpv4(address) && address.d === 0) || hasOnlyLastWord(address, 0);
}

/** Whether Istio's sidecar has this source address: it forwards inbound connections to the app from 127.0.0.6 and ::6. */
export function isMeshInbound(address: Address): boolean {
  return (isIpv4(address) && address.d === 0x7f000006) || hasOnlyLastWord(address, 6);
}

function hasOnlyLastWord({ a, b, c, d }: Address, last: number): boolean {
  return d === last && a === 0 && b === 0 && c === 0;
}
