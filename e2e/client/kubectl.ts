/** Runs kubectl against the suite's cluster, as users do. */
import type { ChildProcess } from "node:child_process";
import { type Attempt, attempt, follow } from "../host/run.ts";
import type { Suite } from "./suite.ts";

export type Kubectl = {
  /** Returns standard output. Rejects with kubectl's error. */
  readonly run: (args: readonly string[], input?: string) => Promise<string>;
  /** Runs a command that may fail, and returns its exit status and its output. */
  readonly attempt: (args: readonly string[], input?: string) => Promise<Attempt>;
  /** Returns the printed JSON, with the type that the caller expects. */
  readonly json: <T>(args: readonly string[], input?: string) => Promise<T>;
  /** Starts a command that runs until the caller kills it, with a callback per line of output. */
  readonly follow: (args: readonly string[], onLine: (line: string) => void) => ChildProcess;
};

export function kubectlOf(suite: Suite): Kubectl {
  const withContext = (args: readonly string[]) => [
    `--kubeconfig=${suite.kubeconfig}`,
    ...(suite.context === undefined ? [] : [`--context=${suite.context}`]),
    ...args,
  ];
  const run = async (args: readonly string[], input?: string) => {
    const { status, output, stderr } = await attempt(
      suite.kubectl,
      withContext(args),
      input === undefined ? {} : { input },
    );
    if (status === 0) return output;
    throw new Error(`kubectl ${args.join(" ")} ended with ${status}: ${stderr.trim()}`);
  };
  return {
    run,
    attempt: (args, input) => attempt(suite.kubectl, withContext(args), input === undefined ? {} : { input }),
    json: async (args, input) => JSON.parse(await run([...args, "--output=json"], input)),
    follow: (args, onLine) => follow(suite.kubectl, withContext(args), onLine),
  };
}

/** kubectl with `--namespace`. */
export function kubectlIn(kubectl: Kubectl, namespace: string): Kubectl {
  const withNamespace = (args: readonly string[]) => ["--namespace", namespace, ...args];
  return {
    run: (args, input) => kubectl.run(withNamespace(args), input),
    attempt: (args, input) => kubectl.attempt(withNamespace(args), input),
    json: (args, input) => kubectl.json(withNamespace(args), input),
    follow: (args, onLine) => kubectl.follow(withNamespace(args), onLine),
  };
}
