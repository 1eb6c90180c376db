/** Denies a manager the kernel's lists of sockets: netlink with a seccomp filter, the socket tables with an empty /proc. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

const MOUNT = 'mount --bind "$0" /proc && exec "$@"';
const FILTER_C_FILE = new URL("deny-netlink.c", import.meta.url).pathname;

export type DeniedSources = {
  /** The reason for skipping the tests; empty if this host can run both command prefixes. */
  readonly skipReason: string;
  /** Command prefix that denies netlink. */
  readonly withoutNetlink: readonly string[];
  /** Command prefix that denies netlink and /proc. */
  readonly withoutSources: readonly string[];
  readonly remove: () => void;
};

export function prepareDeniedSources(): DeniedSources {
  const folder = mkdtempSync(`${tmpdir()}/lastcall-denied-sources-`);
  const program = `${folder}/deny-netlink`;
  const withoutNetlink = [program];
  const emptyFolder = mkdtempSync(`${folder}/proc-`);
  const withoutSources = ["unshare", "-m", "sh", "-c", MOUNT, emptyFolder, program];
  const skipReason = compileError(program) || commandError(withoutSources);
  return { skipReason, withoutNetlink, withoutSources, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function compileError(program: string): string {
  const compileResult = spawnSync("cc", ["-Wall", "-Werror", "-o", program, FILTER_C_FILE], { encoding: "utf8" });
  if (compileResult.error !== undefined) return "this host has no C compiler";
  return compileResult.status === 0 ? "" : compileResult.stderr;
}

function commandError([command = "", ...args]: readonly string[]): string {
  const commandResult = spawnSync(command, [...args, "true"], { encoding: "utf8" });
  return commandResult.status === 0 ? "" : `this host does not allow the filter or the mount: ${commandResult.stderr}`;
}
