/** Defines and reads the flags that select a cluster and lastcall's namespace in it. */
import { type Command, InvalidArgumentError } from "commander";
import { isDnsLabel } from "../contract/untrusted-text.ts";
import { quote } from "../policy/quote.ts";
import type { ClusterChoice } from "./drain-ports.ts";
import { type Flags, textFlag } from "./file-flags.ts";

export type ClusterSource = {
  readonly choice: ClusterChoice;
  /** `undefined` selects the namespace `lastcall` or, if it has no webhook Pod, the only namespace that has one. */
  readonly lastcallNamespace: string | undefined;
};

export function addClusterFlags(command: Command): Command {
  return command
    .option("--kubeconfig <file>", "kubeconfig file (default: KUBECONFIG, ~/.kube/config, the Pod's service account)")
    .option("--context <name>", "context of the kubeconfig")
    .option(
      "--lastcall-namespace <name>",
      "namespace of lastcall's webhook (default: lastcall or, if it has no webhook Pod, the only namespace that has one)",
      readNamespaceName,
    );
}

/** Validated because the name becomes part of a URL path. */
export function readNamespaceName(text: string): string {
  if (isDnsLabel(text)) return text;
  throw new InvalidArgumentError(
    `Got ${quote(text)}, expected the name of a namespace: at most 63 characters of a-z, 0-9 and -.`,
  );
}

export function clusterSource(options: Flags): ClusterSource {
  return {
    choice: { kubeconfig: textFlag(options, "kubeconfig"), context: textFlag(options, "context") },
    lastcallNamespace: textFlag(options, "lastcallNamespace"),
  };
}
