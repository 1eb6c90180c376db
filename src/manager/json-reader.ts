/** Checks untrusted JSON: the nesting depth before parsing, and whether a parsed value is an object. Pure. */

const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Measures the nesting depth. The native build's JSON parser is recursive, so callers limit the depth.
 *
 * @returns the maximum nesting of brackets outside strings
 */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at = at + 1) {
    const code = text.charCodeAt(at);
    if (isQuoted && code === BACKSLASH) at = at + 1;
    else if (code === QUOTE) isQuoted = !isQuoted;
    else if (!isQuoted) depth = depth + depthChange(code);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function depthChange(code: number): number {
  if (code === 91 || code === 123) return 1;
  return code === 93 || code === 125 ? -1 : 0;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
