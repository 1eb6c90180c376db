/** Detects growth of memory and descriptors over equal rounds. Pure. */

export type Round = {
  /** Equivalent hours of a Pod's life since the start. */
  readonly hours: number;
  readonly residentKib: number;
  readonly descriptors: number;
};

export type Growth = {
  /** Slope of the linear regression. */
  readonly kibPerDay: number;
  readonly descriptors: number;
  /** The growth as text; empty without growth. */
  readonly problem: string;
};

/** A third of the manager's memory budget. Pages of 4 KiB prevent a finer limit in a short run. */
const LIMIT_KIB_PER_DAY = 256;
/** The first rounds fill the allocator's caches. */
const WARM_UP_ROUNDS = 2;

export function growthOf(rounds: readonly Round[]): Growth {
  const warm = rounds.slice(WARM_UP_ROUNDS);
  const first = warm[0];
  const last = warm.at(-1);
  if (first === undefined || last === undefined || warm.length < 3)
    return { kibPerDay: Number.NaN, descriptors: 0, problem: `${rounds.length} rounds are too few` };
  const kibPerDay = 24 * slope(warm);
  const descriptors = last.descriptors - first.descriptors;
  return { kibPerDay, descriptors, problem: problemOf(kibPerDay, descriptors, last.residentKib > first.residentKib) };
}

function problemOf(kibPerDay: number, descriptors: number, isLarger: boolean): string {
  if (descriptors > 0) return `${descriptors} descriptors more than after the warm-up`;
  if (isLarger && kibPerDay > LIMIT_KIB_PER_DAY)
    return `it grows by ${Math.round(kibPerDay)} KiB a day, more than ${LIMIT_KIB_PER_DAY}`;
  return "";
}

/** Least squares of resident memory over hours. */
function slope(rounds: readonly Round[]): number {
  const meanHours = mean(rounds.map(({ hours }) => hours));
  const meanKib = mean(rounds.map(({ residentKib }) => residentKib));
  let above = 0;
  let below = 0;
  for (const { hours, residentKib } of rounds) {
    above += (hours - meanHours) * (residentKib - meanKib);
    below += (hours - meanHours) ** 2;
  }
  return below === 0 ? 0 : above / below;
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
