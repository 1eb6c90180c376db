/** A process of its own that attacks a port until it is ended, and then says in one line how often it was closed. */
import { ATTACKS, type AttackTally, attack, TOGETHER } from "./attacks.ts";

const [kind = "", port = "", addresses = "0"] = process.argv.slice(2);
const chosen = (TOGETHER[kind] ?? [kind]).map((name) => ATTACKS[name]);
const tally: AttackTally = { opened: 0, closed: 0 };
for (const one of chosen) {
  if (one === undefined) throw new Error(`there is no attack ${kind}`);
  const from = Number(addresses);
  attack(from > 0 ? { ...one, addresses: from } : one, Number(port), tally);
}
process.once("SIGTERM", () => process.stdout.write(`${JSON.stringify(tally)}\n`, () => process.exit(0)));
process.stdout.write("attacking\n");
