/** Hostile TLS answers at the relay client: whatever comes, each call has one end, and no broken handshake is trusted. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HostileRelay, NUMBERS_OF_A_CABLE, openHostileRelay, tlsDamageOf } from "./hostile-relay-server.ts";
import { type Budget, Finding } from "./sanitize-part.ts";
import { demandCleanEnd, FUZZ_FOLDER, start } from "./sanitized-process.ts";

export const RELAY_CLIENT = `${FUZZ_FOLDER}/relay-sanitize`;

/** They wait more than they compute. */
const AT_ONCE = 4;
/** As many calls as this are enough for one to be understood: one in fifteen is answered without damage. */
const ENOUGH_CALLS = 400;

export async function hostileRelays(budget: Budget): Promise<string> {
  const seed = budget.random.below(0xffffffff);
  const folder = mkdtempSync(join(tmpdir(), "lastcall-relay-"));
  const caFile = join(folder, "ca.pem");
  const relay = await openHostileRelay(seed);
  writeFileSync(caFile, relay.ca);
  let called = 0;
  let trusted = 0;
  try {
    while (budget.goesOn(called)) {
      const firsts = Array.from({ length: AT_ONCE }, (_, at) => called + at * NUMBERS_OF_A_CABLE);
      const counts = await Promise.all(firsts.map((first) => callAll(relay, { seed, first, caFile })));
      called += AT_ONCE * NUMBERS_OF_A_CABLE;
      trusted += counts.reduce((sum, one) => sum + one, 0);
    }
  } finally {
    relay.close();
    rmSync(folder, { recursive: true });
  }
  if (called >= ENOUGH_CALLS && trusted === 0)
    throw new Finding("no answer at all was understood", Buffer.from(`seed ${seed}`));
  return `${called} calls over TLS, ${trusted} trusted`;
}

type Calls = { readonly seed: number; readonly first: number; readonly caFile: string };

/** @returns how many answers were trusted */
async function callAll(relay: HostileRelay, { seed, first, caFile }: Calls): Promise<number> {
  const port = await relay.cableFor(first);
  const args = [port, caFile, first, NUMBERS_OF_A_CABLE].map(String);
  const end = await start(RELAY_CLIENT, args).ended;
  const input = Buffer.from(`answers of seed ${seed}, numbers from ${first}\n${end.out}`);
  demandCleanEnd(end, [0], input);
  const lines = end.out.trimEnd().split("\n");
  if (lines.length !== NUMBERS_OF_A_CABLE) throw new Finding(`${lines.length} ends of ${NUMBERS_OF_A_CABLE}`, input);
  const trusted = lines.filter((line) => /^[0-9]+ (status|delivered)/.test(line));
  for (const line of trusted)
    if (tlsDamageOf(seed, Number(line.split(" ")[0])).kind === "garbled")
      throw new Finding(`an answer behind a garbled handshake was trusted: ${line}`, input);
  return trusted.length;
}
