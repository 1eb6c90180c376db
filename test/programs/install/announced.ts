/** Says what is being installed before it begins, so that a run that waits for a download does not look stuck. */

export async function announced<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  process.stdout.write(`installing ${what}\n`);
  const done = await work();
  process.stdout.write(`installed ${what} in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s\n`);
  return done;
}
