/** Detects growth of memory and descriptors over equal rounds. Pure. */

export type Round = {
  /** Hours of a Pod's life to which this round and all earlier rounds correspond. */
  readonly hours: number;
  readonly residentKib: number;
  readonly descriptors: number;
};

export type Growth = {
  /** Growth of the resident memory, as the slope of a linear regression. */
  readonly kibPerDay: number;
  readonly descriptors: number;
  /** Describes the growth; empty if no value grows. */
  readonly problem: string;
};

/** A third of the manager's memory budget. Memory is measured in pages of 4 KiB, so a short run cannot verify a lower limit. */
const LIMIT_KIB_PER_DAY = 256;
/** The first rounds fill the allocator's caches. */
const WARM_UP_ROUNDS = 2;

export function growthOf(rounds: readonly Round[]): Growth {
  const warmRounds = rounds.slice(WARM_UP_ROUNDS);
  const first = warmRounds[0];
  const last = warmRounds.at(-1);
  if (first === undefined || last === undefined || warmRounds.length < 3)
    return { kibPerDay: Number.NaN, descriptors: 0, problem: `${rounds.length} rounds are too few` };
  const kibPerDay = 24 * residentKibPerHour(warmRounds);
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
function residentKibPerHour(rounds: readonly Round[]): number {
  const meanHours = mean(rounds.map(({ hours }) => hours));
  const meanKib = mean(rounds.map(({ residentKib }) => residentKib));
  let covariance = 0;
  let variance = 0;
  for (const { hours, residentKib } of rounds) {
    covariance += (hours - meanHours) * (residentKib - meanKib);
    variance += (hours - meanHours) ** 2;
  }
  return variance === 0 ? 0 : covariance / variance;
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
