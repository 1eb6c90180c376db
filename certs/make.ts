/**
 * `npm run certs [-- --name=NAME … --days=N --out=FOLDER]`: creates a CA and a certificate signed by it, to try the webhook by
 * hand. Writes ca.crt, ca.key, tls.crt and tls.key as PEM; only their owner may read the keys.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeCaPair, makeServerPair, type ServerNames, type Validity } from "../src/authority/signing.ts";
import { EXIT_FAULT, EXIT_USAGE } from "../src/contract/exit-codes.ts";

const DAY_MS = 86_400_000;
/** Clocks of hosts differ, and a certificate from the future is refused. */
const BACKDATE_MS = 3_600_000;
/** macOS and browsers refuse certificates that are valid for longer. */
const MAX_DAYS = 825;
const DEFAULT_NAMES = ["localhost", "127.0.0.1", "::1"];
const DEFAULT_FOLDER = join(import.meta.dirname, "out");
/** Labels of letters, digits and dashes; the first label may be a wildcard. X.509 allows 253 characters, 63 per label. */
const DNS_NAME = /^(?=.{1,253}$)(\*\.)?([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/i;

type Options = { readonly names: ServerNames; readonly days: number; readonly out: string };

function stop(status: number, message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(status);
}

function readOptions(args: readonly string[]): Options {
  const flags = {
    name: { type: "string", multiple: true },
    days: { type: "string" },
    out: { type: "string" },
  } as const;
  const { values } = parseArgs({ args: [...args], options: flags });
  const names = values.name ?? DEFAULT_NAMES;
  const wrong = names.find((name) => isIP(name) === 0 && !DNS_NAME.test(name));
  if (wrong !== undefined)
    throw new Error(`--name got "${wrong}", expected a DNS name such as lastcall.example.org, or an IP address`);
  const days = values.days ?? "30";
  if (!/^[1-9][0-9]{0,2}$/.test(days) || Number(days) > MAX_DAYS)
    throw new Error(`--days got "${days}", expected a whole number from 1 to ${MAX_DAYS}`);
  const dns = names.filter((name) => isIP(name) === 0);
  const ip = names.filter((name) => isIP(name) !== 0);
  return { names: { dns, ip }, days: Number(days), out: values.out ?? DEFAULT_FOLDER };
}

async function make({ names, days, out }: Options): Promise<readonly string[]> {
  const nowMs = Date.now();
  const validity: Validity = { fromMs: nowMs - BACKDATE_MS, untilMs: nowMs + days * DAY_MS };
  // The time makes the subject unique: a client that trusts two CAs with the same subject would confuse the CAs.
  const ca = await makeCaPair(`lastcall by hand, ${new Date(nowMs).toISOString()}`, validity);
  const { cert, key } = await makeServerPair(ca, names, validity);
  mkdirSync(out, { recursive: true });
  const files = { "ca.crt": ca.cert, "ca.key": ca.key, "tls.crt": cert, "tls.key": key };
  return Object.entries(files).map(([name, text]) => {
    const file = join(out, name);
    const mode = name.endsWith(".key") ? 0o600 : 0o644;
    writeFileSync(file, text, { mode });
    // writeFileSync applies the mode to new files only.
    chmodSync(file, mode);
    return file;
  });
}

function optionsOrExit(args: readonly string[]): Options {
  try {
    return readOptions(args);
  } catch (error) {
    return stop(EXIT_USAGE, error instanceof Error ? error.message : String(error));
  }
}

const chosen = optionsOrExit(process.argv.slice(2));
try {
  const files = await make(chosen);
  const names = [...chosen.names.dns, ...(chosen.names.ip ?? [])].join(", ");
  process.stdout.write(
    `certificate for ${names}, valid for ${chosen.days} days:\n${files.map((file) => `  ${file}\n`).join("")}`,
  );
} catch (error) {
  stop(EXIT_FAULT, `--out ${chosen.out}: ${error instanceof Error ? error.message : String(error)}`);
}
