/** The Secret's entries to an authority and back. Whatever is damaged is told and left out; what is good in it is kept. */
import type { Ca, CaReader, SigningCa } from "../../authority/certificate.ts";
import type { Authority, RetiredCa } from "./authority.ts";

export type SecretContent = {
  readonly authority: Authority;
  /** Certificates that cannot sign any more and may have signed what is served. */
  readonly salvaged: readonly Ca[];
  /** One sentence per damaged place; empty when everything is well. */
  readonly damage: readonly string[];
};

type Entries = Readonly<Record<string, string>>;

export function readContent(entries: Entries, reader: CaReader): SecretContent {
  const damage: string[] = [];
  const salvaged: Ca[] = [];
  const pair = (name: "ca" | "next"): SigningCa | undefined => {
    const cert = entries[`${name}.crt`];
    const key = entries[`${name}.key`];
    if (cert === undefined && key === undefined) return undefined;
    const read = reader.readCa(cert ?? "");
    if ("why" in read) {
      damage.push(`${name}.crt ${read.why}`);
      return undefined;
    }
    if (key !== undefined && reader.keyFits(read.ca, key)) return { ...read.ca, key };
    damage.push(key === undefined ? `${name}.key is missing` : `${name}.key is not the key of ${name}.crt`);
    salvaged.push(read.ca);
    return undefined;
  };
  const next = pair("next");
  const found = pair("ca");
  // Ours are never both; whether it may sign already is then unknown.
  const signer = found !== undefined && found.id === next?.id ? undefined : found;
  if (signer !== found) damage.push("ca.crt is also next.crt");
  const retired = readRetired(entries["retired.json"], reader, damage);
  return { authority: { signer, next, retired }, salvaged, damage };
}

/** Every entry that is ours; those of others in the same Secret are not named and so not touched. */
export function contentOf({ signer, next, retired }: Authority): Readonly<Record<string, string | undefined>> {
  return {
    "ca.crt": signer?.cert,
    "ca.key": signer?.key,
    "next.crt": next?.cert,
    "next.key": next?.key,
    "retired.json": retired.length === 0 ? undefined : `${JSON.stringify(retired.map(rowOf))}\n`,
  };
}

type RetiredRow = { readonly retiredAt: string; readonly certificate: string; readonly dropped?: boolean };

function rowOf(ca: RetiredCa): RetiredRow {
  const row = { retiredAt: new Date(ca.retiredAtMs).toISOString(), certificate: ca.cert };
  return ca.isDropped ? { ...row, dropped: true } : row;
}

function readRetired(text: string | undefined, reader: CaReader, damage: string[]): readonly RetiredCa[] {
  if (text === undefined) return [];
  const found: RetiredCa[] = [];
  for (const row of rowsIn(text)) {
    const read = row === undefined ? { why: "" } : reader.readCa(row.certificate);
    const retiredAtMs = Date.parse(row?.retiredAt ?? "");
    if ("ca" in read && !Number.isNaN(retiredAtMs))
      found.push({ ...read.ca, retiredAtMs, isDropped: row?.dropped === true });
    else damage.push("retired.json has an entry that is not {retiredAt, certificate}");
  }
  return found;
}

function rowsIn(text: string): readonly (RetiredRow | undefined)[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.map((row: unknown) => (isRow(row) ? row : undefined)) : [undefined];
  } catch {
    return [undefined];
  }
}

function isRow(value: unknown): value is RetiredRow {
  if (typeof value !== "object" || value === null || !("retiredAt" in value) || !("certificate" in value)) return false;
  return typeof value.retiredAt === "string" && typeof value.certificate === "string";
}
