/**
 * Manages Go build caches, which are large (4 GB for one Kubernetes version) and not needed after the builds. All builds of a process
 * share one cache, which is then deleted. A file lock beside the cache shows, even across PID namespaces, whether the process runs.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tryLock } from "../host/file-lock.ts";

export type CompilerCache = {
  /** Creates the folder at the first call, which also deletes the caches of killed builds. */
  readonly folder: () => Promise<string>;
  readonly close: () => Promise<void>;
};

type OpenCache = { readonly folder: string; readonly release: () => Promise<void> };

/** @param name unique among processes, for example random */
export function compilerCache(cache: string, name: string): CompilerCache {
  let opened: Promise<OpenCache> | undefined;
  return {
    folder: async () => {
      opened ??= openCache(cache, name);
      return (await opened).folder;
    },
    close: async () => {
      if (opened !== undefined) await removeCache(await opened);
    },
  };
}

async function openCache(cache: string, name: string): Promise<OpenCache> {
  await deleteAbandonedCaches(cache);
  const folder = join(cache, `compiler-${name}`);
  // The lock is taken before the folder exists, so that a search for abandoned folders finds the folder locked.
  const release = await tryLock(`${folder}.lock`);
  if (release === undefined) throw new Error(`${folder} is locked by another process.`);
  mkdirSync(folder, { recursive: true });
  return { folder, release };
}

async function deleteAbandonedCaches(cache: string): Promise<void> {
  const names = existsSync(cache) ? readdirSync(cache) : [];
  for (const name of names.filter((name) => /^compiler-[^.]+$/.test(name))) {
    const folder = join(cache, name);
    const release = await tryLock(`${folder}.lock`);
    if (release !== undefined) await removeCache({ folder, release });
  }
}

async function removeCache({ folder, release }: OpenCache): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  rmSync(`${folder}.lock`, { force: true });
  await release();
}
