/** A span of time for people: `350ms`, `7.4s`, `90s`, `2m 5s`, `3h 4m`. Pure. */
export function spanText(ms: number): string {
  if (Math.round(ms) < 1_000) return `${Math.round(ms)}ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 1_200) return `${tenths / 10}s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return inTwo(Math.floor(seconds / 60), "m", seconds % 60, "s");
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1_440) return inTwo(Math.floor(minutes / 60), "h", minutes % 60, "m");
  const hours = Math.round(ms / 3_600_000);
  return inTwo(Math.floor(hours / 24), "d", hours % 24, "h");
}

function inTwo(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit} ${small}${smallUnit}`;
}
