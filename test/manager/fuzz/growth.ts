/** Whether memory grows over equal rounds. Pure. */

export type Round = {
  /** What the round stands for in a Pod's life, from the start on. */
  readonly hours: number;
  readonly residentKib: number;
  readonly descriptors: number;
};

export type Growth = {
  /** By the straight line that fits the rounds best. */
  readonly kibPerDay: number;
  readonly descriptors: number;
  /** Empty, or why this is growth. */
  readonly verdict: string;
};

/** A third of what the whole manager may take. The kernel counts in pages of 4 KiB, so a short run cannot tell less. */
const LIMIT_KIB_PER_DAY = 256;
/** The first rounds fill what the allocator keeps. */
const WARM_UP_ROUNDS = 2;

export function growthOf(rounds: readonly Round[]): Growth {
  const warm = rounds.slice(WARM_UP_ROUNDS);
  const first = warm[0];
  const last = warm.at(-1);
  if (first === undefined || last === undefined || warm.length < 3)
    return { kibPerDay: Number.NaN, descriptors: 0, verdict: `${rounds.length} rounds are too few to tell` };
  const kibPerDay = 24 * slope(warm);
  const descriptors = last.descriptors - first.descriptors;
  return { kibPerDay, descriptors, verdict: verdictOf(kibPerDay, descriptors, last.residentKib > first.residentKib) };
}

function verdictOf(kibPerDay: number, descriptors: number, isLarger: boolean): string {
  if (descriptors > 0) return `${descriptors} descriptors more than after the warm-up`;
  if (isLarger && kibPerDay > LIMIT_KIB_PER_DAY)
    return `it grows by ${Math.round(kibPerDay)} KiB a day, more than ${LIMIT_KIB_PER_DAY}`;
  return "";
}

/** Of resident memory over hours, by least squares. */
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
