/** The flags of `drains` and `timeline`. Reads words; what they ask for goes to the commands as plain values. */
import { type Command, InvalidArgumentError } from "commander";
import { isDnsLabel } from "../../contract/untrusted-text.ts";
import { quote } from "../../policy/quote.ts";
import type { Ports } from "../ports.ts";
import { runDrains } from "./drains-command.ts";
import type { DrainSource, DrainsRequest } from "./drains-request.ts";
import { runTimeline } from "./timeline-command.ts";

type Flags = Readonly<Record<string, unknown>>;

export function addDrainCommands(program: Command, ports: Ports, finish: (status: number) => void): void {
  addSourceFlags(program.command("drains").description("print the recent drains that the relay was told of"))
    .option("-w, --watch", "go on, and print each drain as it ends", false)
    .action(async (options: Flags, command: Command) => {
      if (options["watch"] === true && options["filename"] !== undefined)
        command.error("error: --watch looks at a cluster; leave out --filename");
      finish(await runDrains({ ...drainsRequest(options), watch: options["watch"] === true }, ports));
    });
  addSourceFlags(program.command("timeline").description("print one drain as a picture"))
    .argument("<pod|drain>", "a Pod's name or namespace/name, for its latest drain; or the id that drains --json tells")
    .option("--svg <file>", "write the picture to a file instead")
    .action(async (subject: string, options: Flags) =>
      finish(await runTimeline({ ...drainsRequest(options), subject, svgFile: textFlag(options, "svg") }, ports)),
    );
}

function addSourceFlags(command: Command): Command {
  return command
    .option("-n, --namespace <name>", "only drains of Pods in this namespace", nameOfNamespace)
    .option("--json", "print the records as JSON", false)
    .option(
      "--kubeconfig <file>",
      "how the cluster is reached (default: KUBECONFIG, ~/.kube/config, the Pod's account)",
    )
    .option("--context <name>", "context of the kubeconfig")
    .option(
      "--lastcall-namespace <name>",
      "where lastcall runs (default: lastcall, else wherever its Pods are)",
      nameOfNamespace,
    )
    .option(
      "-f, --filename <file>",
      "no cluster: read what drains --json printed, or a manager's log; - is standard input",
    )
    .addHelpText("after", RIGHTS)
    .allowExcessArguments(false);
}

const RIGHTS = `
Reads every replica by port-forward; needs the rights to list Pods and to get and create pods/portforward
in lastcall's namespace.`;

/** It becomes part of a path. */
function nameOfNamespace(text: string): string {
  if (isDnsLabel(text)) return text;
  throw new InvalidArgumentError(`Got ${quote(text)}, expected the name of a namespace: at most 63 of a-z, 0-9 and -.`);
}

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
  return {
    kind: "cluster",
    choice: { kubeconfig: textFlag(options, "kubeconfig"), context: textFlag(options, "context") },
    lastcallNamespace: textFlag(options, "lastcallNamespace"),
  };
}

function textFlag(options: Flags, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}
