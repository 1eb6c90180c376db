/** One spelling per IP address, so that two texts can be compared. Pure. */

/** Longest text of an IPv6 address, an embedded IPv4 address included. */
const IPV6_TEXT_LIMIT = 45;

/**
 * Lower case, without leading zeros, IPv6 shortened as RFC 5952 has it. What kubelets write is that already; what people
 * write by hand need not be. Text that is no address comes back in lower case: host names know no case either.
 */
export function canonicalAddress(text: string): string {
  // Every reader in Kubernetes takes leading zeros of IPv4 for decimal, never for octal.
  if (/^[\d.]+$/.test(text)) return text.replace(/(^|\.)0+(?=\d)/g, "$1");
  const lower = text.toLowerCase();
  // Only these characters: nothing else may reach the parser of URLs, which would see paths and users in it.
  if (lower.length > IPV6_TEXT_LIMIT || !/^[\da-f.]*:[\da-f:.]+$/.test(lower)) return lower;
  const host = URL.parse(`http://[${lower}]/`)?.hostname;
  return host === undefined ? lower : host.slice(1, -1);
}
