/** Names of containers, namespaces and profiles: a DNS label of RFC 1123, which is what the API server accepts. Pure. */
export const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export function isDnsLabel(text: string): boolean {
  return DNS_LABEL.test(text);
}
