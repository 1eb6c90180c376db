/** Runs the command line in this process, with files from a map. */
import type { DrainPorts } from "../../src/cli/drain-ports.ts";
import { runCommandLine } from "../../src/cli/program.ts";
import { deriveToken } from "../../src/cli/token-source.ts";

/** Ports without a kubeconfig, and with a fixed clock. */
export const NO_CLUSTER: DrainPorts = {
  connect: async () => ({ ok: false, message: "no kubeconfig was found" }),
  nowMs: () => 1_800_000_000_000,
  sleep: async () => undefined,
  interruptSignal: () => new AbortController().signal,
  columns: () => 120,
  writeFile: () => {
    throw new Error("nothing is written in this test");
  },
};

export type CommandResult = { readonly status: number; readonly out: string; readonly err: string };

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** `-` in `files` is standard input. `token` replaces every derived token. */
export async function lastcall(
  args: readonly string[],
  files: Files = {},
  token?: string,
  drains?: DrainPorts,
): Promise<CommandResult> {
  let out = "";
  let err = "";
  const read = (path: string): Uint8Array => {
    const content = files[path];
    if (content === undefined) throw Object.assign(new Error(`no ${path}`), { code: "ENOENT" });
    return typeof content === "string" ? new TextEncoder().encode(content) : content;
  };
  const status = await runCommandLine(args, {
    listManifests: (path) => {
      const filesInFolder = Object.keys(files).filter((name) => name.startsWith(`${path}/`));
      return filesInFolder.length > 0 ? filesInFolder.sort() : [read(path) && path];
    },
    readFile: read,
    readStandardInput: async () => read("-"),
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    drains: drains ?? NO_CLUSTER,
    deriveToken: token === undefined ? deriveToken : () => token,
  });
  return { status, out, err };
}

export async function injectedTextOf(text: string, ...flags: readonly string[]): Promise<string> {
  return (await lastcall(["inject", ...flags], { "-": text })).out;
}

export async function uninjectedTextOf(text: string): Promise<string> {
  return (await lastcall(["uninject"], { "-": text })).out;
}
