/** What single values and keys mean to kubectl, whose reader makes JSON of them. */
import { isScalar, type Scalar } from "yaml";

/** What kubectl cannot read either, or what is too much to read. */
export class Unreadable extends Error {}

/** A key as kubectl would see it: what it means, as text. A bare `yes` is "true", and `0644` is "420". */
export function keyText(key: unknown): string {
  if (!isScalar(key)) return "";
  if (typeof key.value === "number") return numberKey(key.value, key.source ?? "");
  return typeof key.value === "boolean" || typeof key.value === "string"
    ? String(key.value)
    : (key.source ?? String(key.value));
}

/** Go writes `1e+06` where JavaScript writes `1000000`, but only of what was no whole number before. */
function numberKey(value: number, source: string): string {
  const isWhole = !/[.eE]/.test(source) || /^[-+]?0[xX]/.test(source);
  const size = Math.abs(value);
  if (!Number.isFinite(value) || (isWhole && !Number.isSafeInteger(value))) return source;
  if (isWhole || value === 0 || (size >= 1e-4 && size < 1e6)) return String(value);
  return value.toExponential().replace(/e([-+])(\d)$/, "e$10$2");
}

/** @throws Unreadable of what no JSON can say. */
export function scalarValue({ value, source, tag }: Scalar): unknown {
  const written = source ?? String(value);
  if (typeof value === "number") return numberValue(value, written);
  if (typeof value !== "string") return typeof value === "boolean" || value === null ? value : written;
  if (tag === "tag:yaml.org,2002:binary") return Buffer.from(value, "base64").toString();
  if (tag === "tag:yaml.org,2002:float" && Number.isFinite(Number(value))) return Number(value);
  return value;
}

/** A number beyond a double stays the text that was written, as for kubectl. */
function numberValue(value: number, written: string): number | string {
  if (Number.isFinite(value)) return value;
  if (!/\d/.test(written)) throw new Unreadable(`${written} is no number of JSON; in quotes it is text`);
  return written;
}
