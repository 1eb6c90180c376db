/**
 * An attacker in its own Pod: `attacker.mjs --on manager|webhook --port N --seconds N`. It attacks the addresses of the
 * last request on its control port. It exits after `--seconds` or at SIGTERM; its last line has its total counts.
 */
import { createServer } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { parseArgs } from "node:util";
import { type AttackCounts, type AttackerLine, CONTROL_PORT, sumOfCounts } from "./attack-counts.ts";
import { MANAGER_ATTACKS, WEBHOOK_ATTACKS } from "./attacks.ts";
import { type RunningAttack, startAttack } from "./run-attack.ts";

const { values } = parseArgs({
  options: { on: { type: "string" }, port: { type: "string" }, seconds: { type: "string" } },
});
const isManager = values.on === "manager";
const port = Number(values.port);
const attacks = isManager ? MANAGER_ATTACKS : WEBHOOK_ATTACKS;

/** The attacks on every address that was a target. The counts of an ended attack remain. */
const attacksByHost = new Map<string, readonly { readonly name: string; readonly runningAttack: RunningAttack }[]>();
let targets: readonly string[] = [];

function setTargets(addresses: readonly string[]): void {
  for (const removedHost of targets.filter((one) => !addresses.includes(one)))
    for (const { runningAttack } of attacksByHost.get(removedHost) ?? []) runningAttack.end();
  for (const host of addresses.filter((one) => !attacksByHost.has(one)))
    attacksByHost.set(
      host,
      attacks.map((attack) => ({ name: attack.name, runningAttack: startAttack(attack, () => connectTo(host)) })),
    );
  targets = addresses;
}

function connectTo(host: string) {
  if (isManager) return { socket: connect({ host, port }), readyEvent: "connect" };
  // The attacker does not verify the server.
  return { socket: connectTls({ host, port, rejectUnauthorized: false }), readyEvent: "secureConnect" };
}

function sumCounts(): AttackCounts {
  return sumOfCounts(
    [...attacksByHost.values()].flat().map(({ name, runningAttack }) => ({ [name]: runningAttack.counts() })),
  );
}

function print(what: string): void {
  const line: AttackerLine = { at: new Date().toISOString(), what, targets, counts: sumCounts() };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function endAttacks(): void {
  setTargets([]);
  print("ended");
  process.exit(0);
}

const control = createServer(async (request, response) => {
  if (request.method === "POST") {
    setTargets(JSON.parse(await text(request)));
    print("targets set");
  }
  response.end();
});
control.listen(CONTROL_PORT, "::", () => print("ready"));
setInterval(() => print("attacking"), 1_000);
setTimeout(endAttacks, Number(values.seconds) * 1_000);
process.once("SIGTERM", endAttacks);
