/** Process 1 of the namespaces that `roll.ts` makes: reads the request, rolls, writes the result. Leaves when told to. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createNamespaceNetwork } from "../../../src/demo/network/namespace-network.ts";
import { createProcessTable } from "../../../src/demo/pods/process-table.ts";
import { realClock } from "../../../src/demo/real-clock.ts";
import { placeOf } from "../../../src/demo/rollout/deployment.ts";
import { startServers } from "../../../src/demo/servers.ts";
import { Fault } from "../../../src/fault.ts";
import { type RollOutcome, type RollRequest, type RollResult, UPSTREAM } from "./roll-request.ts";
import { rollVariant } from "./roll-variant.ts";

const SOURCE = join(import.meta.dirname, "../../../src");
const LASTCALL = join(SOURCE, "lastcall.ts");
const NODE_MANAGER = join(SOURCE, "manager/node-main.ts");
const SAMPLE_APP = join(SOURCE, "demo/sample-app.ts");
const NATIVE_MANAGER = join(SOURCE, "../build/native/lastcall");

const [requestFile = "", resultFile = "", scratch = ""] = process.argv.slice(2);
const processes = createProcessTable();
process.on("exit", processes.killAll);
// The leash of whoever started this.
const leave = () => process.exit(130);
process.stdin.once("end", leave).once("error", leave).resume();

try {
  writeFileSync(resultFile, JSON.stringify(await rolled(JSON.parse(readFileSync(requestFile, "utf8")))));
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Fault ? error.message : (error as Error).stack}\n`);
  process.exit(1);
}

async function rolled(request: RollRequest): Promise<RollResult> {
  const network = await createNamespaceNetwork();
  const environment = environmentOfImages();
  const { namespace } = placeOf(request.deployment);
  const program = [process.execPath, LASTCALL];
  const [host = "", port = ""] = UPSTREAM.split(":");
  processes.start({
    argv: [process.execPath, SAMPLE_APP],
    environment: { ...environment, LISTEN_ON: host, PORT: port },
    onLine: (line) => process.stderr.write(`upstream: ${line}\n`),
  });
  const servers = await startServers(
    { relay: true, namespace },
    { clock: realClock, processes, program, environment, scratch, host: network.webhookAddress },
  );
  const native = existsSync(NATIVE_MANAGER);
  const ports = {
    clock: realClock,
    processes,
    network,
    random: Math.random,
    managerProgram: native ? [NATIVE_MANAGER] : [process.execPath, NODE_MANAGER],
    imageEnvironment: environment,
    servers,
  };
  const outcomes: Record<string, RollOutcome> = {};
  for (const variant of request.variants) outcomes[variant.name] = await rollVariant(request, variant, ports);
  await servers.stop();
  return { manager: native ? "native" : "node", outcomes };
}

/** What an image would set; nothing else of this shell reaches a container. */
function environmentOfImages(): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of ["PATH", "HOME", "LANG", "NODE_COMPILE_CACHE"]) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
