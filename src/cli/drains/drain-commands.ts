/** Defines the commands `drains` and `timeline` and reads their flags. */
import type { Command } from "commander";
import { addClusterFlags, clusterSource, readNamespaceName } from "../cluster-flags.ts";
import { type Flags, textFlag } from "../file-flags.ts";
import type { Ports } from "../ports.ts";
import { runDrains } from "./drains-command.ts";
import type { DrainSource, DrainsRequest } from "./drains-request.ts";
import { runTimeline } from "./timeline-command.ts";

export function addDrainCommands(program: Command, ports: Ports, finish: (status: number) => void): void {
  addSourceFlags(program.command("drains").description("print recent drains recorded by the relay"))
    .option("-w, --watch", "keep running and print each drain as it ends", false)
    .action(async (options: Flags, command: Command) => {
      if (options["watch"] === true && options["filename"] !== undefined)
        command.error("error: --watch reads a cluster; remove --filename");
      finish(await runDrains({ ...drainsRequest(options), watch: options["watch"] === true }, ports));
    });
  addSourceFlags(program.command("timeline").description("print the timeline of one drain"))
    .argument("<pod|drain>", "Pod name or namespace/name (its latest drain), or a drain id from drains --json")
    .option("--svg <file>", "write the timeline as SVG to a file, not as text to standard output")
    .action(async (subject: string, options: Flags) =>
      finish(await runTimeline({ ...drainsRequest(options), subject, svgFile: textFlag(options, "svg") }, ports)),
    );
}

function addSourceFlags(command: Command): Command {
  command
    .option("-n, --namespace <name>", "only drains of Pods in this namespace", readNamespaceName)
    .option("--json", "print the records as JSON", false);
  return addClusterFlags(command)
    .option(
      "-f, --filename <file>",
      "read the output of drains --json or a manager's log instead of a cluster; - is standard input",
    )
    .addHelpText("after", PERMISSIONS_HELP)
    .allowExcessArguments(false);
}

const PERMISSIONS_HELP = `
Reads every replica of lastcall's webhook by port-forward. Requires permission to list Pods and to get and create
pods/portforward in lastcall's namespace.`;

function drainsRequest(options: Flags): DrainsRequest {
  return {
    source: sourceOf(options),
    namespace: textFlag(options, "namespace"),
    json: options["json"] === true,
  };
}

function sourceOf(options: Flags): DrainSource {
  const path = textFlag(options, "filename");
  if (path !== undefined) return { kind: "file", path };
  return { kind: "cluster", ...clusterSource(options) };
}
