/** A process of its own that attacks a port until it is ended, and then says in one line how often it was closed. */
import { setPriority } from "node:os";
import { ATTACKS, type AttackTally, attack } from "./attacks.ts";

const [kind = "", port = ""] = process.argv.slice(2);
const chosen = ATTACKS[kind];
if (chosen === undefined) throw new Error(`there is no attack ${kind}`);
// On another machine it would take no time from the server.
setPriority(19);
const tally: AttackTally = { opened: 0, closed: 0 };
attack(chosen, Number(port), tally);
process.once("SIGTERM", () => process.stdout.write(`${JSON.stringify(tally)}\n`, () => process.exit(0)));
process.stdout.write("attacking\n");
