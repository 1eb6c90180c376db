/**
 * `npm run bench:hostile-port [-- --manager=BINARY] [--node] [--only=TEXT]`: measures the manager's responses to preStop hooks
 * with and without attacks of unauthenticated clients on its port. --manager defaults to the native build in build/native;
 * --only selects the scenarios whose titles contain the text.
 */
import { cgroupSkipReason, openCgroup } from "../test/manager/in-cgroup.ts";
import { attackText, NO_ATTACK, namespacesFailure, runAttack } from "../test/manager/port-attack/run-attack.ts";

const binary = process.argv.find((arg) => arg.startsWith("--manager="))?.slice("--manager=".length);
const usesNode = process.argv.includes("--node");
const NODE_COMMAND = [process.execPath, new URL("../test/manager/compiled-once.mjs", import.meta.url).pathname];
const managerCommand = usesNode
  ? NODE_COMMAND
  : [binary ?? new URL("../build/native/lastcall", import.meta.url).pathname];

const skipReason = namespacesFailure();
if (skipReason !== "") {
  process.stderr.write(`bench:hostile-port: this host cannot create a network namespace: ${skipReason}\n`);
  process.exit(1);
}
const SCENARIOS = [
  { title: "2000 silent connections from 1 address", attack: "silent", amount: 2_000, addresses: 1 },
  { title: "2000 silent connections from 200 addresses", attack: "silent", amount: 2_000, addresses: 200 },
  { title: "2000 connections a second from 200 addresses", attack: "churn", amount: 2_000, addresses: 200 },
] as const;
const titleFilter = process.argv.find((arg) => arg.startsWith("--only="))?.slice("--only=".length) ?? "";
const print = (line: string): void => void process.stdout.write(`${line}\n`);
print(`manager: ${managerCommand.join(" ")}`);
print(attackText("control", await runAttack({ manager: managerCommand, ...NO_ATTACK })));
for (const { title, ...scenario } of SCENARIOS)
  if (title.includes(titleFilter))
    print(attackText(title, await runAttack({ manager: managerCommand, wrapper: [], ...scenario })));
const CPU_LIMIT = { milliCpu: 10 };
const cgroupSkipText = cgroupSkipReason(CPU_LIMIT);
if (usesNode) print("10m of CPU: skipped; measured with the native build only");
else if (cgroupSkipText !== "") print(`10m of CPU: skipped: ${cgroupSkipText}`);
else {
  const cgroup = openCgroup(CPU_LIMIT);
  const { wrapper } = cgroup;
  const cpuLimitedScenarios = [
    { title: "10m of CPU, no attack", ...NO_ATTACK },
    { title: "10m of CPU, 500 connections a second", attack: "churn", amount: 500, addresses: 200 },
    { title: "10m of CPU, 2000 silent connections", attack: "silent", amount: 2_000, addresses: 1 },
  ] as const;
  for (const { title, ...scenario } of cpuLimitedScenarios)
    if (title.includes(titleFilter))
      print(attackText(title, await runAttack({ manager: managerCommand, ...scenario, wrapper })));
  await cgroup.close();
}
