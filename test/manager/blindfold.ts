/** Ways to keep a manager from the kernel's sockets: a seccomp filter without netlink, and a /proc without tables. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

const MOUNT = 'mount --bind "$0" /proc && exec "$@"';
const SOURCE = new URL("blindfold.c", import.meta.url).pathname;

export type Blindfold = {
  /** Why the ways cannot be tried here; empty where they can. */
  readonly lacks: string;
  /** Words before a program that may read /proc, and no more. */
  readonly withoutNetlink: readonly string[];
  /** Words before a program that can read nothing. */
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

function refused([command = "", ...words]: readonly string[]): string {
  const tried = spawnSync(command, [...words, "true"], { encoding: "utf8" });
  return tried.status === 0 ? "" : `no filter or mount of one's own here: ${tried.stderr}`;
}
