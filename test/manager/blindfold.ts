/** Denies a manager the kernel's socket sources: netlink with a seccomp filter, the tables with an empty /proc. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

const MOUNT = 'mount --bind "$0" /proc && exec "$@"';
const SOURCE = new URL("blindfold.c", import.meta.url).pathname;

export type Blindfold = {
  /** The reason for skipping; empty if both ways work on this host. */
  readonly lacks: string;
  /** Command prefix that denies netlink. */
  readonly withoutNetlink: readonly string[];
  /** Command prefix that denies netlink and /proc. */
  readonly withoutSources: readonly string[];
  readonly remove: () => void;
};

export function makeBlindfold(): Blindfold {
  const folder = mkdtempSync(`${tmpdir()}/lastcall-blindfold-`);
  const program = `${folder}/blindfold`;
  const withoutNetlink = [program];
  const empty = mkdtempSync(`${folder}/proc-`);
  const withoutSources = ["unshare", "-m", "sh", "-c", MOUNT, empty, program];
  const lacks = compiled(program) || refused(withoutSources);
  return { lacks, withoutNetlink, withoutSources, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function compiled(program: string): string {
  const made = spawnSync("cc", ["-Wall", "-Werror", "-o", program, SOURCE], { encoding: "utf8" });
  if (made.error !== undefined) return "no C compiler here";
  return made.status === 0 ? "" : made.stderr;
}

function refused([command = "", ...args]: readonly string[]): string {
  const tried = spawnSync(command, [...args, "true"], { encoding: "utf8" });
  return tried.status === 0 ? "" : `no filter or mount of one's own here: ${tried.stderr}`;
}
