/** Converts the webhook's CAs from and to the entries of a Secret. */
import type { Ca, CaReader, SigningCa } from "../../authority/certificate.ts";
import { type Entries, type EntryChanges, parseJson, readCaEntries } from "../../authority/shared-secret.ts";
import type { Authority, RetiredCa } from "./authority.ts";

type SecretContent = {
  readonly authority: Authority;
  /** CAs without a usable key. They cannot sign, but may have signed a leaf in use. */
  readonly keylessCas: readonly Ca[];
  readonly secretErrors: readonly string[];
};

export function readContent(entries: Entries, reader: CaReader): SecretContent {
  const secretErrors: string[] = [];
  const keylessCas: Ca[] = [];
  const readSigningCa = (name: "ca" | "next"): SigningCa | undefined => {
    const result = readCaEntries(entries, name, reader);
    if (result.kind === "signing") return result.ca;
    if (result.kind === "unusable") {
      secretErrors.push(result.error);
      if (result.ca !== undefined) keylessCas.push(result.ca);
    }
    return undefined;
  };
  const next = readSigningCa("next");
  const storedSigner = readSigningCa("ca");
  // Only a manual edit makes one CA both signer and next. It counts as next, because it may not be in every caBundle yet.
  const signer = storedSigner !== undefined && storedSigner.id === next?.id ? undefined : storedSigner;
  if (signer !== storedSigner) secretErrors.push("ca.crt and next.crt contain the same CA");
  const retired = readRetired(entries["retired.json"], reader, secretErrors);
  return { authority: { signer, next, retired }, keylessCas, secretErrors };
}

export function contentOf({ signer, next, retired }: Authority): EntryChanges {
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

function readRetired(text: string | undefined, reader: CaReader, secretErrors: string[]): readonly RetiredCa[] {
  if (text === undefined) return [];
  const value = parseJson(text);
  const rows: readonly unknown[] = Array.isArray(value) ? value : [undefined];
  return rows.flatMap((row) => {
    const ca = readRow(row, reader);
    if (ca === undefined) secretErrors.push("retired.json has an entry without valid fields retiredAt and certificate");
    return ca ?? [];
  });
}

function readRow(row: unknown, reader: CaReader): RetiredCa | undefined {
  if (!isRow(row)) return undefined;
  const result = reader.readCa(row.certificate);
  const retiredAtMs = Date.parse(row.retiredAt);
  if ("defect" in result || Number.isNaN(retiredAtMs)) return undefined;
  return { ...result.ca, retiredAtMs, isDropped: row.dropped === true };
}

function isRow(value: unknown): value is RetiredRow {
  if (typeof value !== "object" || value === null || !("retiredAt" in value) || !("certificate" in value)) return false;
  return typeof value.retiredAt === "string" && typeof value.certificate === "string";
}
