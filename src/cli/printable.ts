/** Text from manifests, safe on a terminal: letters of every language stay, what moves or colours things does not. */
export function printable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?");
}
