/** Attacks a port until SIGTERM, then prints its connection counts: `node attacker.ts ATTACK PORT [ADDRESSES]`. */
import { ATTACKS, type AttackCounts, COMBINATIONS, startAttack } from "./attacks.ts";

const [name = "", port = "", sourceAddresses = "0"] = process.argv.slice(2);
const attacks = (COMBINATIONS[name] ?? [name]).map((attackName) => ATTACKS[attackName]);
const counts: AttackCounts = { opened: 0, closed: 0 };
for (const attack of attacks) {
  if (attack === undefined)
    throw new Error(
      `attack "${name}" does not exist; expected one of ${Object.keys({ ...ATTACKS, ...COMBINATIONS }).join(", ")}`,
    );
  const addressCount = Number(sourceAddresses);
  startAttack(addressCount > 0 ? { ...attack, sourceAddresses: addressCount } : attack, Number(port), counts);
}
process.once("SIGTERM", () => process.stdout.write(`${JSON.stringify(counts)}\n`, () => process.exit(0)));
process.stdout.write("attacking\n");
