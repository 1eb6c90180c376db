/**
 * An attacker in its own Pod: `attacker.mjs --on manager|webhook --port N --seconds N`. It attacks the addresses of the
 * last request on its control port. It exits after its seconds or at SIGTERM; its last line has its total counts.
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
const attacksByHost = new Map<string, readonly { readonly name: string; readonly running: RunningAttack }[]>();
let targets: readonly string[] = [];

function setTargets(addresses: readonly string[]): void {
  for (const removed of targets.filter((one) => !addresses.includes(one)))
    for (const { running } of attacksByHost.get(removed) ?? []) running.end();
  for (const host of addresses.filter((one) => !attacksByHost.has(one)))
    attacksByHost.set(
      host,
      attacks.map((attack) => ({ name: attack.name, running: startAttack(attack, () => connectTo(host)) })),
    );
  targets = addresses;
}

function connectTo(host: string) {
  if (isManager) return { socket: connect({ host, port }), ready: "connect" };
  // The attacker does not verify the server.
  return { socket: connectTls({ host, port, rejectUnauthorized: false }), ready: "secureConnect" };
}

function counts(): AttackCounts {
  return sumOfCounts([...attacksByHost.values()].flat().map(({ name, running }) => ({ [name]: running.counts() })));
}

function print(what: string): void {
  const line: AttackerLine = { at: new Date().toISOString(), what, targets, counts: counts() };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function end(): void {
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
setTimeout(end, Number(values.seconds) * 1_000);
process.once("SIGTERM", end);
