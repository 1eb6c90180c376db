/**
 * A hook is one thing. Edited inside, it would mix the author's handler with ours, and what the author's has beyond ours
 * (headers, a scheme) would leave its place.
 */
export function isOneThing(key: string): boolean {
  return key === "preStop";
}
