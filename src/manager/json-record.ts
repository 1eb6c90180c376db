/** Asks of JSON whether it is an object: what came from outside has the form it is found to have, and no other. Pure. */

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
