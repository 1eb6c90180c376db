/** Canonicalizes IP addresses for comparison. Pure. */

/** Length of the longest form of an IPv6 address, which ends with an IPv4 address. */
const IPV6_LIMIT_CHARACTERS = 45;

/**
 * Returns an address without leading zeros, IPv6 in the form of RFC 5952. Kubelets write this form, but handwritten slices may
 * contain others. Other text, such as a host name, is only converted to lower case.
 */
export function canonicalAddress(text: string): string {
  // Kubernetes parses IPv4 with leading zeros as decimal, not octal.
  if (/^[\d.]+$/.test(text)) return text.replace(/(^|\.)0+(?=\d)/g, "$1");
  const lowercaseText = text.toLowerCase();
  // `URL` would parse other characters as a path or a user.
  if (lowercaseText.length > IPV6_LIMIT_CHARACTERS || !/^[\da-f.]*:[\da-f:.]+$/.test(lowercaseText))
    return lowercaseText;
  const host = URL.parse(`http://[${lowercaseText}]/`)?.hostname;
  return host === undefined ? lowercaseText : host.slice(1, -1);
}
