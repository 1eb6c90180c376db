/** Runs kubectl against the suite's cluster, as users do. */
import { type ChildProcess, spawn } from "node:child_process";
import { type Attempt, attempt, mortal } from "../host/run.ts";
import type { Suite } from "./suite.ts";

export type Kubectl = {
  /** Returns standard output. Rejects with kubectl's error. */
  readonly run: (args: readonly string[], input?: string) => Promise<string>;
  /** Runs a command that may fail, and returns its exit status too. */
  readonly attempt: (args: readonly string[], input?: string) => Promise<Attempt>;
  /** Returns the printed JSON, with the type that the caller expects. */
  readonly json: <T>(args: readonly string[], input?: string) => Promise<T>;
  /** Starts a command that runs until it is ended, with a callback per line of output. */
  readonly follow: (args: readonly string[], onLine: (line: string) => void) => ChildProcess;
};

export function kubectlOf(suite: Suite): Kubectl {
  const whole = (args: readonly string[]) => [
    `--kubeconfig=${suite.kubeconfig}`,
    ...(suite.context === undefined ? [] : [`--context=${suite.context}`]),
    ...args,
  ];
  const run = async (args: readonly string[], input?: string) => {
    const { status, output, complaint } = await attempt(
      suite.kubectl,
      whole(args),
      input === undefined ? {} : { input },
    );
    if (status === 0) return output;
    throw new Error(`kubectl ${args.join(" ")} ended with ${status}: ${complaint.trim()}`);
  };
  return {
    run,
    attempt: (args, input) => attempt(suite.kubectl, whole(args), input === undefined ? {} : { input }),
    json: async (args, input) => JSON.parse(await run([...args, "--output=json"], input)),
    follow: (args, onLine) => {
      const [command, words] = mortal(suite.kubectl, whole(args));
      const child = spawn(command, words, { stdio: ["ignore", "pipe", "ignore"] });
      let rest = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        lines.forEach(onLine);
      });
      return child;
    },
  };
}
