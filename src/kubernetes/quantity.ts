/** Parses Kubernetes quantities. */

const DIVISORS: ReadonlyMap<string, number> = new Map([
  ["n", 1e9],
  ["u", 1e6],
  ["m", 1e3],
]);

const FACTORS: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
  ["T", 1e12],
  ["P", 1e15],
  ["E", 1e18],
  ["Ki", 2 ** 10],
  ["Mi", 2 ** 20],
  ["Gi", 2 ** 30],
  ["Ti", 2 ** 40],
  ["Pi", 2 ** 50],
  ["Ei", 2 ** 60],
]);

/** @returns cores or bytes; `undefined` for an invalid quantity */
export function parseQuantity(value: unknown): number | undefined {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string") return undefined;
  const match = /^([+-]?[0-9]{0,20}\.?[0-9]{0,20})(?:[eE]([+-]?[0-9]{1,3})|([numkMGTPE]|[KMGTPE]i)?)$/.exec(
    text.trim(),
  );
  const digits = match?.[1] ?? "";
  if (match === null || !/[0-9]/.test(digits)) return undefined;
  if (match[2] !== undefined) return Number(`${digits}e${match[2]}`);
  // 700 * 0.001 is not 0.7 in floating point; 700 / 1000 is.
  const divisor = DIVISORS.get(match[3] ?? "");
  if (divisor !== undefined) return Number(digits) / divisor;
  return Number(digits) * (FACTORS.get(match[3] ?? "") ?? 1);
}
