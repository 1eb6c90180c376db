/** kubectl against the suite's cluster: what people do, done the same way. */
import { type ChildProcess, spawn } from "node:child_process";
import { type Attempt, attempt, mortal } from "../host/run.ts";
import type { Suite } from "./suite.ts";

export type Kubectl = {
  /** Standard output. Rejects with kubectl's own words. */
  readonly run: (args: readonly string[], input?: string) => Promise<string>;
  /** For what may be refused: the status is part of the answer. */
  readonly attempt: (args: readonly string[], input?: string) => Promise<Attempt>;
  /** What it prints as JSON. The caller says what kind of object that is. */
  readonly json: <T>(args: readonly string[], input?: string) => Promise<T>;
  /** One that runs until it is ended; lines of its output are handed over. */
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
