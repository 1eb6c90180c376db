/** Canonicalizes IP addresses for comparison. Pure. */

/** With an embedded IPv4 address. */
const IPV6_TEXT_LIMIT = 45;

/**
 * Lower case without leading zeros, IPv6 as in RFC 5952. Kubelets write this form, hand-made slices may not. Other text,
 * such as a host name, is only converted to lower case.
 */
export function canonicalAddress(text: string): string {
  // Kubernetes parses IPv4 with leading zeros as decimal, not octal.
  if (/^[\d.]+$/.test(text)) return text.replace(/(^|\.)0+(?=\d)/g, "$1");
  const lower = text.toLowerCase();
  // Other characters would be parsed as a URL's path or user.
  if (lower.length > IPV6_TEXT_LIMIT || !/^[\da-f.]*:[\da-f:.]+$/.test(lower)) return lower;
  const host = URL.parse(`http://[${lower}]/`)?.hostname;
  return host === undefined ? lower : host.slice(1, -1);
}
