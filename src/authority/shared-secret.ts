/** Reads CAs from a Secret that replicas share, and writes the Secret. Invalid entries are reported and ignored. */
import type { SecretStore, StoredSecret } from "../api-server/secret-store.ts";
import type { Ca, CaReader, SigningCa } from "./certificate.ts";

export type Entries = Readonly<Record<string, string>>;

/** `undefined` removes an entry; an entry whose key is absent is not changed. */
export type EntryChanges = Readonly<Record<string, string | undefined>>;

export type SecretEvent<R> =
  | { readonly kind: "secret-written"; readonly reason: R }
  | { readonly kind: "conflict"; readonly on: "Secret" }
  | { readonly kind: "secret-errors"; readonly errors: readonly string[] };

export type SecretPorts<R> = {
  readonly secrets: SecretStore;
  readonly recordEvent: (event: SecretEvent<R>) => void;
};

export type SecretReading = { readonly stored: StoredSecret | undefined; readonly secretErrors: readonly string[] };

type CaEntriesReading =
  | { readonly kind: "missing" }
  | { readonly kind: "signing"; readonly ca: SigningCa }
  | { readonly kind: "unusable"; readonly error: string; readonly ca?: Ca };

export function readCaEntries(entries: Entries, name: string, reader: CaReader): CaEntriesReading {
  const cert = entries[`${name}.crt`];
  const key = entries[`${name}.key`];
  if (cert === undefined && key === undefined) return { kind: "missing" };
  const result = reader.readCa(cert ?? "");
  if ("defect" in result) return { kind: "unusable", error: `${name}.crt ${result.defect}` };
  const { ca } = result;
  if (key === undefined) return { kind: "unusable", error: `${name}.key is missing`, ca };
  if (!reader.isKeyOf(ca, key)) return { kind: "unusable", error: `${name}.key is not the key of ${name}.crt`, ca };
  return { kind: "signing", ca: { ...ca, key } };
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export async function writeSecret<R>(
  { secrets, recordEvent }: SecretPorts<R>,
  { stored, secretErrors }: SecretReading,
  { changes, reason }: { readonly changes: EntryChanges; readonly reason: R },
): Promise<void> {
  if (secretErrors.length > 0) recordEvent({ kind: "secret-errors", errors: secretErrors });
  const result = await (stored === undefined
    ? secrets.create(presentEntriesOf(changes))
    : secrets.update(stored, changes));
  recordEvent(result === "done" ? { kind: "secret-written", reason } : { kind: "conflict", on: "Secret" });
}

function presentEntriesOf(changes: EntryChanges): Entries {
  return Object.fromEntries(
    Object.entries(changes).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
