/** How long a CA that no longer signs stays trusted, and how long it is remembered after that. */
import type { Ca } from "../../authority/certificate.ts";
import type { Lives, RetiredCa } from "./authority.ts";

/**
 * Most retired CAs that are trusted. One is for as long as a leaf lives, so only a Secret that is deleted again and
 * again gets there; a caBundle then stays below 20 KiB.
 */
const TRUSTED_LIMIT = 24;
const REMEMBERED_LIMIT = 2 * TRUSTED_LIMIT;

/** Clocks that differ, and a replica that was signing while another one retired the CA. */
const MARGIN_MS = 60_000;

/** Whether every leaf it signed has expired. */
export function isOverdue(ca: RetiredCa, wallMs: number, lives: Lives): boolean {
  return !ca.isDropped && wallMs >= ca.retiredAtMs + trustedForMs(lives);
}

export function retire(ca: Ca, wallMs: number): RetiredCa {
  const { id, cert, validFromMs, validUntilMs } = ca;
  return { id, cert, validFromMs, validUntilMs, retiredAtMs: wallMs, isDropped: false };
}

/** One entry per CA and no more than the limits; the first of the list are the ones that stay. */
export function withinLimits(retired: readonly RetiredCa[], wallMs: number, lives: Lives): readonly RetiredCa[] {
  const first = new Map<string, RetiredCa>();
  for (const ca of retired) if (!first.has(ca.id)) first.set(ca.id, ca);
  const kept = [...first.values()].filter((ca) => !ca.isDropped || wallMs < ca.retiredAtMs + 2 * trustedForMs(lives));
  let trusted = 0;
  const limited = kept.map((ca) => {
    if (!ca.isDropped) trusted += 1;
    return trusted > TRUSTED_LIMIT ? { ...ca, isDropped: true } : ca;
  });
  return limited.slice(0, REMEMBERED_LIMIT);
}

function trustedForMs(lives: Lives): number {
  return lives.leafLifeMs + lives.leafLifeMs / 24 + MARGIN_MS;
}
