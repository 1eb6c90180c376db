/** Drains out of a file or standard input, where no cluster is at hand. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { decodeManifest } from "../manifest/decode.ts";
import { sourceName, systemMessage } from "../open-manifests.ts";
import type { Ports } from "../ports.ts";
import { drainsInText } from "./drain-text.ts";

export type FileDrains =
  | { readonly ok: true; readonly drains: readonly DrainRecord[]; readonly problems: readonly string[] }
  | { readonly ok: false; readonly message: string };

export async function fileDrains(path: string, ports: Ports): Promise<FileDrains> {
  const name = sourceName(path);
  let bytes: Uint8Array;
  try {
    bytes = path === "-" ? await ports.readStandardInput() : ports.readFile(path);
  } catch (cause) {
    return { ok: false, message: `${name}: ${systemMessage(cause)}` };
  }
  const decoded = decodeManifest(bytes);
  if (!decoded.ok) return { ok: false, message: `${name}: ${decoded.message}` };
  const { drains, unread, isKnown } = drainsInText(decoded.text);
  if (!isKnown) {
    const expected = "expected what `lastcall drains --json` prints, or the log of a manager";
    return { ok: false, message: `${name}: no drain was found in it; ${expected}` };
  }
  return {
    ok: true,
    drains,
    problems: unread > 0 ? [`${name}: ${unread} of its entries are no drains of version 1`] : [],
  };
}
