/** Which strangers leave where there are too many. Pure. */

export type Stranger = { readonly id: number; readonly address: string; readonly sinceMs: number };

type Ranked = {
  readonly id: number;
  readonly sinceMs: number;
  readonly favoured: boolean;
  /** How many newer ones its address has. */
  readonly newer: number;
};

/**
 * The addresses that have most connections give them first, the oldest of theirs; favoured ones only when no other is
 * left.
 *
 * @returns at most `count` ids
 */
export function whoGoesFirst(
  strangers: readonly Stranger[],
  count: number,
  isFavoured: (address: string) => boolean,
): readonly number[] {
  const seen = new Map<string, number>();
  const ranked: Ranked[] = [];
  for (const { id, address, sinceMs } of [...strangers].sort(newestFirst)) {
    const newer = seen.get(address) ?? 0;
    seen.set(address, newer + 1);
    ranked.push({ id, sinceMs, favoured: isFavoured(address), newer });
  }
  ranked.sort(compareLeaving);
  return ranked.slice(0, count).map((one) => one.id);
}

function newestFirst(one: Stranger, other: Stranger): number {
  return one.sinceMs === other.sinceMs ? other.id - one.id : other.sinceMs - one.sinceMs;
}

function compareLeaving(one: Ranked, other: Ranked): number {
  if (one.favoured !== other.favoured) return one.favoured ? 1 : -1;
  if (one.newer !== other.newer) return other.newer - one.newer;
  return one.sinceMs === other.sinceMs ? one.id - other.id : one.sinceMs - other.sinceMs;
}
