/** Calls a hostile TLS relay. Each call must have one result, and must not trust a response after a damaged handshake. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CALLS_PER_PROXY, type HostileRelay, openHostileRelay, tlsDamageOf } from "./hostile-relay-server.ts";
import { type Budget, Finding } from "./sanitize-part.ts";
import { FUZZ_FOLDER, requireCleanExit, start } from "./sanitized-process.ts";

export const RELAY_CLIENT_PROGRAM = `${FUZZ_FOLDER}/relay-sanitize`;

/** Number of parallel callers, which may exceed the cores, because the callers mostly wait. */
const PARALLEL_CALLERS = 4;
/** After this many calls at least one response must have been trusted; one call in fifteen gets an undamaged response. */
const ENOUGH_CALLS = 400;

export async function testHostileRelays(budget: Budget): Promise<string> {
  const seed = budget.random.below(0xffffffff);
  const folder = mkdtempSync(join(tmpdir(), "lastcall-relay-"));
  const caFile = join(folder, "ca.pem");
  const relay = await openHostileRelay(seed);
  writeFileSync(caFile, relay.ca);
  let callCount = 0;
  let trustedCount = 0;
  try {
    while (budget.shouldContinue(callCount)) {
      const firstNumbers = Array.from({ length: PARALLEL_CALLERS }, (_, at) => callCount + at * CALLS_PER_PROXY);
      const trustedCounts = await Promise.all(firstNumbers.map((first) => callAll(relay, { seed, first, caFile })));
      callCount += PARALLEL_CALLERS * CALLS_PER_PROXY;
      trustedCount += trustedCounts.reduce((sum, one) => sum + one, 0);
    }
  } finally {
    relay.close();
    rmSync(folder, { recursive: true });
  }
  if (callCount >= ENOUGH_CALLS && trustedCount === 0)
    throw new Finding("no response was accepted", Buffer.from(`seed ${seed}`));
  return `${callCount} calls over TLS, ${trustedCount} trusted`;
}

type Calls = { readonly seed: number; readonly first: number; readonly caFile: string };

/** @returns the number of trusted responses */
async function callAll(relay: HostileRelay, { seed, first, caFile }: Calls): Promise<number> {
  const port = await relay.proxyFor(first);
  const args = [port, caFile, first, CALLS_PER_PROXY].map(String);
  const end = await start(RELAY_CLIENT_PROGRAM, args).ended;
  const input = Buffer.from(`answers of seed ${seed}, numbers from ${first}\n${end.stdout}`);
  requireCleanExit(end, [0], input);
  const lines = end.stdout.trimEnd().split("\n");
  if (lines.length !== CALLS_PER_PROXY) throw new Finding(`${lines.length} ends of ${CALLS_PER_PROXY}`, input);
  const trustedLines = lines.filter((line) => /^[0-9]+ (status|delivered)/.test(line));
  for (const line of trustedLines)
    if (tlsDamageOf(seed, Number(line.split(" ")[0])).kind === "garbled")
      throw new Finding(`a response after a damaged handshake was trusted: ${line}`, input);
  return trustedLines.length;
}
