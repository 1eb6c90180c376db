/** Starts the manager with damaged flags and environment variables. It must exit with status 64 and a message, or run. */
import { spawnSync } from "node:child_process";
import { pause } from "../../time/pause.ts";
import { mutate } from "./mutations.ts";
import { SAMPLES } from "./samples.ts";
import { type Budget, Finding } from "./sanitize-part.ts";
import { requireCleanExit, SANITIZED_MANAGER, start, TOKEN } from "./sanitized-process.ts";
import type { Random } from "./seeded-random.ts";

/** Arguments of `unshare` for a network namespace, because damaged flags may contain any port and address. */
const NETWORK_NAMESPACE = ["--net", "--map-root-user", "sh", "-c", 'ip link set lo up 2>/dev/null; exec "$0" "$@"'];
const LIMIT_MS = 30_000;

export async function testArgumentMutants(budget: Budget): Promise<string> {
  if (spawnSync("unshare", [...NETWORK_NAMESPACE, "true"]).status !== 0)
    return "skipped: this host does not allow network namespaces, which damaged flags require";
  let refusedCount = 0;
  let runCount = 0;
  while (budget.shouldContinue(refusedCount + runCount)) {
    const args = argumentsOf(budget.random);
    const env = variablesOf(budget.random);
    const input = Buffer.from(JSON.stringify({ args, env }));
    if (await isRefused(args, env, input)) refusedCount += 1;
    else runCount += 1;
  }
  return `${refusedCount} refused with a message, ${runCount} ran`;
}

async function isRefused(args: readonly string[], env: Record<string, string>, input: Buffer): Promise<boolean> {
  const manager = start("unshare", [...NETWORK_NAMESPACE, SANITIZED_MANAGER, ...args], env);
  const deadlineMs = performance.now() + LIMIT_MS;
  let hasEnded = false;
  void manager.ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && !/listen/.test(manager.stdout())) {
    if (performance.now() > deadlineMs)
      throw new Finding("the manager neither exited nor reported that it listens", input);
    await pause(5, "the program starts or exits");
  }
  if (!hasEnded) manager.child.kill("SIGTERM");
  const end = await manager.ended;
  // `drain` and `status` exit with status 4, because no manager is running.
  requireCleanExit(end, [0, 3, 4, 64], input);
  if (end.code === 64 && end.stderr.trim() === "") throw new Finding("status 64 without a message", input);
  return end.code === 64;
}

const FLAGS = SAMPLES.filter((sample) => sample.parser === "flags").flatMap(({ bytes }) =>
  bytes.toString("utf8").split("\n"),
);
const COMMANDS = ["serve", "serve", "serve", "serve", "serve", "status", "drain", "version", ""];

function argumentsOf(random: Random): string[] {
  const flags = FLAGS.filter(() => random.chance(0.4)).map((flag) =>
    random.chance(0.15) ? damageText(flag, random) : flag,
  );
  const command = random.pick(COMMANDS);
  return [
    random.chance(0.05) ? damageText(command, random) : command,
    ...flags,
    ...(random.chance(0.7) ? ["--address-scope=127.0.0.1"] : []),
  ];
}

const ORIGINALS = SAMPLES.filter((sample) => sample.parser === "original").map(({ bytes }) => bytes.toString("utf8"));

function variablesOf(random: Random): Record<string, string> {
  const original = random.pick(ORIGINALS);
  return {
    LASTCALL_TOKEN: random.chance(0.15) ? damageText(TOKEN, random) : TOKEN,
    LASTCALL_ORIGINAL: random.chance(0.7) ? damageText(original, random) : original,
    POD_NAME: damageText("web-7d9f", random),
    POD_NAMESPACE: random.chance(0.5) ? damageText("shop", random) : "shop",
  };
}

/** Damages a text, and removes zero bytes, which arguments cannot contain. */
function damageText(text: string, random: Random): string {
  return mutate(Buffer.from(text === "" ? "x" : text), random)
    .toString("latin1")
    .split("\0")
    .join("");
}
