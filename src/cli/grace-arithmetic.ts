/** The grace period as a sum a person can check. */
import type { DrainSettings } from "../contract/drain-settings.ts";

export type GraceArithmetic = {
  readonly seconds: number;
  readonly parts: readonly { readonly what: string; readonly seconds: number }[];
};

const MS_PER_SECOND = 1_000;

/** The last part is whatever the injector added beyond the spans: its margin, hooks it performs, and rounding. */
export function graceArithmetic(settings: DrainSettings, graceSeconds: number): GraceArithmetic {
  const parts = [
    { what: "the app's own", seconds: settings.appGraceMs / MS_PER_SECOND },
    { what: "drain delay", seconds: settings.drainDelayMs / MS_PER_SECOND },
    { what: "deregistration delay", seconds: settings.deregistrationDelayMs / MS_PER_SECOND },
    { what: "drain timeout", seconds: settings.drainTimeoutMs / MS_PER_SECOND },
  ];
  const sum = parts.reduce((total, part) => total + part.seconds, 0);
  const rest = Math.round((graceSeconds - sum) * MS_PER_SECOND) / MS_PER_SECOND;
  return { seconds: graceSeconds, parts: [...parts, { what: "margin", seconds: rest }] };
}

export function graceSentence({ seconds, parts }: GraceArithmetic): string {
  const sum = parts.map((part) => `${part.seconds} s ${part.what}`).join(" + ");
  return `${seconds} s = ${sum}`;
}
