/** Defines the command `verify` and reads its flags. */
import { type Command, InvalidArgumentError } from "commander";
import { parseDurationMs } from "../../contract/duration.ts";
import { quote } from "../../policy/quote.ts";
import { addClusterFlags, clusterSource, readNamespaceName } from "../cluster-flags.ts";
import type { Flags } from "../file-flags.ts";
import type { Ports } from "../ports.ts";
import { runVerify } from "./run-verify.ts";
import { parseWorkload, type Workload } from "./workload.ts";

const DEFAULT_TIMEOUT_MS = 600_000;

export function addVerifyCommand(program: Command, ports: Ports, finish: (status: number) => void): void {
  const command = program
    .command("verify")
    .description("wait for a rollout, and check that none of the Pods that it terminated cut a connection")
    .argument("<type/name>", "the workload, such as deployment/web", readWorkload)
    .option("-n, --namespace <name>", "namespace of the workload", readNamespaceName, "default")
    .option(
      "--since <duration>",
      "check the Pods that terminated in the last DURATION (default: since the creation of the newest revision)",
      readDuration,
    )
    .option(
      "--timeout <duration>",
      "maximum wait for the rollout and the reports of its Pods (default: 10m)",
      readDuration,
    )
    .option("--allow-probes", "exit with 0 also if the kubelet's probes may explain all cut connections", false)
    .option("--json", "print the result as JSON", false);
  addClusterFlags(command)
    .addHelpText("after", HELP)
    .allowExcessArguments(false)
    .action(async (workload: Workload, options: Flags) => {
      const timeoutMs = options["timeout"];
      const sinceMs = options["since"];
      finish(
        await runVerify(
          {
            workload,
            namespace: String(options["namespace"]),
            sinceMs: typeof sinceMs === "number" ? sinceMs : undefined,
            timeoutMs: typeof timeoutMs === "number" ? timeoutMs : DEFAULT_TIMEOUT_MS,
            allowProbes: options["allowProbes"] === true,
            json: options["json"] === true,
            ...clusterSource(options),
          },
          ports,
        ),
      );
    });
}

const HELP = `
Exit status: 0 if every terminated Pod reported that it did not cut a connection, 1 if one may have cut a connection or did
not report, 2 if the rollout or its reports could not be read.
Requires permission to get the workload, and to list Pods and ReplicaSets or ControllerRevisions in its namespace;
and the permissions of the command drains.`;

function readWorkload(text: string): Workload {
  const reading = parseWorkload(text);
  if (reading.ok) return reading.workload;
  throw new InvalidArgumentError(`${reading.message}.`);
}

function readDuration(text: string): number {
  const durationMs = parseDurationMs(text);
  if (durationMs !== undefined) return durationMs;
  throw new InvalidArgumentError(`Got ${quote(text)}, expected a duration such as 90s or 10m.`);
}
