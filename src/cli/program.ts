/** Defines the commands and their flags. */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { VERSION } from "../contract/version.ts";
import type { Release } from "../injection/opt-in/selection.ts";
import { parseVersion } from "../kubernetes/version.ts";
import { quote } from "../policy/quote.ts";
import { readConfig } from "./cluster-config-file.ts";
import { runDiff, runExplain, runInject, runUninject } from "./commands.ts";
import { addDrainCommands } from "./drains/drain-commands.ts";
import { EXIT_CHECK_ERROR, EXIT_DONE, EXIT_ERROR, errorStatusOf } from "./exit-statuses.ts";
import { addFileFlags, commandRequest, type Flags, textFlag } from "./file-flags.ts";
import { addLintCommand } from "./lint/lint-command.ts";
import { addPolicyFlags, overridesFrom } from "./policy-flags.ts";
import type { Ports } from "./ports.ts";
import type { InjectRequest } from "./request.ts";
import { PUBLIC_SEED } from "./token-source.ts";
import { addVerifyCommand } from "./verify/verify-command.ts";

/** Native sidecars are enabled by default from 1.29 on, and cannot be disabled from 1.33 on. */
const DEFAULT_KUBE_VERSION = "1.35";
const DEFAULT_IMAGE = `lastcall-manager:${VERSION}`;
/** For clusters whose nodes cannot be listed; kubelets then count as old. */
const UNKNOWN = "unknown";

const SYSTEM_NAMESPACES: readonly string[] = ["kube-system", "kube-public", "kube-node-lease"];

export async function runCommandLine(args: readonly string[], ports: Ports): Promise<number> {
  let status = EXIT_DONE;
  const program = buildProgram(ports, (result) => {
    status = result;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return status;
  } catch (cause) {
    if (!(cause instanceof CommanderError)) throw cause;
    return cause.exitCode === 0 ? EXIT_DONE : errorStatusOf(args);
  }
}

type Runner = (request: InjectRequest, ports: Ports, options: Flags) => Promise<number>;

export function buildProgram(ports: Ports, finish: (status: number) => void): Command {
  const program = new Command("lastcall");
  program
    .description(
      "Injects Pods so that they shut down without dropping requests. Reads manifests and prints injected ones.",
    )
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: ports.out, writeErr: ports.err })
    .showSuggestionAfterError()
    .helpCommand(true)
    .addHelpText("after", EXIT_HELP);
  const withConfig =
    (run: Runner, withoutConfig = EXIT_ERROR) =>
    async (options: Flags) => {
      const config = readConfig(textFlag(options, "config"), ports);
      finish(config === undefined ? withoutConfig : await run(injectRequest(options, config), ports, options));
    };
  addInjectFlags(program.command("inject").description("print the manifests with every Pod injected")).action(
    withConfig(runInject),
  );
  addFileFlags(program.command("uninject").description("print the manifests as they were before injection")).action(
    async (options: Flags) => finish(await runUninject(commandRequest(options), ports)),
  );
  addInjectFlags(program.command("diff").description("print what inject would change, as a unified diff")).action(
    withConfig(runDiff, EXIT_CHECK_ERROR),
  );
  addInjectFlags(
    program
      .command("explain")
      .description(
        "print every setting with its value and origin, whether the Pod is injected and why, and the Pod's expected shutdown",
      ),
  )
    .option(
      "--revision <name>",
      "revision of the release that would inject the Pods (default: a release without a revision)",
    )
    .option(
      "--opt-out",
      "assume that the release injects every Pod that does not opt out (chart value injection.mode)",
      false,
    )
    .action(withConfig((request, ports, options) => runExplain({ ...request, release: releaseOf(options) }, ports)));
  addLintCommand(program, ports, finish);
  addDrainCommands(program, ports, finish);
  addVerifyCommand(program, ports, finish);
  // Only for the help: the program's entry point loads these commands from their own folders.
  program
    .command("webhook")
    .description("serve the admission webhook (see: lastcall webhook --help)")
    .allowUnknownOption();
  program
    .command("self-test")
    .description("verify that a cluster injects Pods (see: lastcall self-test --help)")
    .allowUnknownOption();
  program.command("demo").description("show a rolling update with and without lastcall (see: lastcall demo --help)");
  return program;
}

const EXIT_HELP = `
Exit status: 0 success, also with nothing to do; 1 error (nothing was written to standard output).
For diff, as for kubectl diff: 0 no difference, 1 differences, 2 error.
For lint: 0 no findings, 1 findings, 2 error.`;

function addInjectFlags(command: Command): Command {
  addFileFlags(command)
    .addOption(versionOption("--kube-version <version>", "version of the API server", DEFAULT_KUBE_VERSION))
    .addOption(
      versionOption(
        "--kubelet-version <version>",
        "version of the oldest kubelet of the cluster, or unknown (default: --kube-version)",
      ),
    )
    .option("--image <image>", "image of the manager", DEFAULT_IMAGE)
    .option("--config <file>", "cluster configuration: defaults, profiles, onInvalid")
    .option(
      "--token-seed <text>",
      "key from which the tokens of the Pods' managers are derived; the default is publicly known",
      PUBLIC_SEED,
    );
  return addPolicyFlags(command);
}

function releaseOf(options: Flags): Release {
  const injection = options["optOut"] === true ? "opt-out" : "opt-in";
  return { revision: textFlag(options, "revision") ?? "", injection };
}

function versionOption(flags: string, summary: string, fallback?: string): Option {
  const option = new Option(flags, summary).argParser((text: string) => {
    if (parseVersion(text) !== undefined || (fallback === undefined && text === UNKNOWN)) return text;
    throw new InvalidArgumentError(`Got ${quote(text)}, expected a Kubernetes version such as 1.32.`);
  });
  return fallback === undefined ? option : option.default(fallback);
}

function injectRequest(options: Flags, config: InjectRequest["config"]): InjectRequest {
  const apiServerVersion = textFlag(options, "kubeVersion") ?? DEFAULT_KUBE_VERSION;
  const kubelet = textFlag(options, "kubeletVersion") ?? apiServerVersion;
  return {
    ...commandRequest(options),
    config,
    facts: {
      apiServerVersion,
      lowestKubeletVersion: kubelet === UNKNOWN ? undefined : kubelet,
      managerImage: textFlag(options, "image") ?? DEFAULT_IMAGE,
      systemNamespaces: SYSTEM_NAMESPACES,
    },
    overrides: overridesFrom(options),
    tokenSeed: textFlag(options, "tokenSeed") ?? PUBLIC_SEED,
  };
}
