/** The form of a namespace's name: a DNS label of RFC 1123. Nothing else can be one, so nothing else is looked for. Pure. */

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export function isNamespaceName(text: string): boolean {
  return LABEL.test(text);
}
