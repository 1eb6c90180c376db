/** The API's IntOrString: a number of Pods, or a share of them. */

/** @param round a share: up or down, as the field has it. */
export function countOf(value: unknown, of: number, round: (share: number) => number): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  const percent = typeof value === "string" ? /^([0-9]{1,3})%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? undefined : round((Number(percent) * of) / 100);
}
