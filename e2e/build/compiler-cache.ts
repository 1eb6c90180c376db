/**
 * What the compiler made on its way: large (4 GB for one Kubernetes) and of no use afterwards. One process's builds share
 * it, then it is deleted; a lock beside it tells whether its process lives, whatever number that has where.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tryLock } from "../host/exclusive.ts";

export type CompilerCache = {
  /** Made when it is first asked for; what killed builds left is deleted then. */
  readonly folder: () => Promise<string>;
  readonly close: () => Promise<void>;
};

type Opened = { readonly folder: string; readonly release: () => Promise<void> };

/** @param name unlike that of any other process, for example a random one. */
export function compilerCache(cache: string, name: string): CompilerCache {
  let opened: Promise<Opened> | undefined;
  return {
    folder: async () => {
      opened ??= open(cache, name);
      return (await opened).folder;
    },
    close: async () => {
      if (opened !== undefined) await remove(await opened);
    },
  };
}

async function open(cache: string, name: string): Promise<Opened> {
  await deleteAbandoned(cache);
  const folder = join(cache, `compiler-${name}`);
  // Before the folder: who looks for abandoned ones finds it locked.
  const release = await tryLock(`${folder}.lock`);
  if (release === undefined) throw new Error(`Another process uses ${folder}.`);
  mkdirSync(folder, { recursive: true });
  return { folder, release };
}

async function deleteAbandoned(cache: string): Promise<void> {
  const names = existsSync(cache) ? readdirSync(cache) : [];
  for (const name of names.filter((one) => /^compiler-[^.]+$/.test(one))) {
    const folder = join(cache, name);
    const release = await tryLock(`${folder}.lock`);
    if (release !== undefined) await remove({ folder, release });
  }
}

async function remove({ folder, release }: Opened): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  rmSync(`${folder}.lock`, { force: true });
  await release();
}
