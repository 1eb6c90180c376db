/** A moment for people: UTC to the second, `2026-11-21 19:49:47 UTC`. Pure. */
export function instantText(ms: number): string {
  // Beyond these no calendar has a date, and asking for one throws.
  if (!(Math.abs(ms) <= 8.64e15) || ms === 0) return "at an unknown time";
  return `${new Date(ms).toISOString().slice(0, -5).replace("T", " ")} UTC`;
}
