/** The drain that a person means by a Pod's name or a drain's id. Pure. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { nearest } from "../../policy/nearest.ts";
import { quote } from "../../policy/quote.ts";

export type Chosen =
  | { readonly ok: true; readonly drain: DrainRecord }
  | { readonly ok: false; readonly message: string };

/** More names than this are no help. */
const NAMES = 5;

/** @param drains newest first; of several drains of one Pod the latest is meant */
export function chooseDrain(subject: string, drains: readonly DrainRecord[]): Chosen {
  const byId = drains.find(({ id }) => id === subject);
  if (byId !== undefined) return { ok: true, drain: byId };
  const named = drains.filter((drain) => (subject.includes("/") ? fullName(drain) : drain.pod) === subject);
  const [latest] = named;
  if (latest === undefined) return { ok: false, message: unknown(subject, drains) };
  const places = [...new Set(named.map(fullName))];
  if (places.length > 1) {
    return {
      ok: false,
      message: `Pods named ${quote(subject)} ended in several namespaces; say ${listed(places, "or")}`,
    };
  }
  return { ok: true, drain: latest };
}

/** Names that begin alike are nearer than any slip of the finger: Pods are asked for by their owner's name. */
function unknown(subject: string, drains: readonly DrainRecord[]): string {
  const start = `no drain of a Pod and no id ${quote(subject)} is remembered`;
  if (drains.length === 0) return `${start}; no drain is`;
  const names = [...new Set(drains.map((drain) => (subject.includes("/") ? fullName(drain) : drain.pod)))];
  const alike = names.filter((name) => name.startsWith(subject));
  const slip = nearest(subject, [...names, ...drains.map(({ id }) => id)]);
  if (alike.length > 0) return `${start}; did you mean ${listed(alike, "or")}?`;
  if (slip !== undefined) return `${start}; did you mean ${quote(slip)}?`;
  return `${start}; the latest are of ${listed(names, "and")}`;
}

function listed(names: readonly string[], last: "or" | "and"): string {
  const quoted = names.slice(0, NAMES).map(quote);
  if (names.length > NAMES) return `${quoted.join(", ")} ${last} ${names.length - NAMES} more`;
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} ${last} ${quoted.at(-1)}`;
}

function fullName({ namespace, pod }: DrainRecord): string {
  return `${namespace}/${pod}`;
}
