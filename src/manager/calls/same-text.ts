/** Compares secrets in a time that does not tell how much of them was right. */

/** @returns false for an empty `expected`: no secret opens nothing */
export function sameText(given: string, expected: string): boolean {
  let difference = given.length === expected.length && expected !== "" ? 0 : 1;
  for (let at = 0; at < expected.length; at += 1) {
    // Always as many steps as the secret is long, whatever was given.
    const code = at < given.length ? given.charCodeAt(at) : 0;
    difference = difference | (code ^ expected.charCodeAt(at));
  }
  return difference === 0;
}
