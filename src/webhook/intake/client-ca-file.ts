/** The file of `--client-ca`, checked at the start: TLS would take a file without any certificate for one with none to trust. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Fault } from "../../fault.ts";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Empty when there is no such setting. @throws Fault ERR_CERTIFICATE_UNREADABLE. */
export async function readClientCa(file: string): Promise<string> {
  if (file === "") return "";
  try {
    const text = await readFile(file, "utf8");
    const found = text.match(CERTIFICATE) ?? [];
    if (found.length === 0) throw new Error("there is no certificate in it");
    for (const pem of found) {
      if (!new X509Certificate(pem).ca) throw new Error("one of its certificates is no CA");
    }
    return found.join("\n");
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new Fault("ERR_CERTIFICATE_UNREADABLE", `--client-ca ${file}: ${detail}`, error);
  }
}
