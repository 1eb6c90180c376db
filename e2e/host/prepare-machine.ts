/** Checks that this machine can carry a cluster, before anything is begun. */
import { installMissing, missingRequirements, missingSentence } from "./requirements.ts";
import { cgroupMode } from "./this-host.ts";

export type Preparation = {
  readonly install: boolean;
  /** Folders of PATH. */
  readonly path: readonly string[];
  readonly say: (line: string) => void;
};

/** @throws with a sentence that says what is missing and what would help. */
export async function prepareMachine({ install, path, say }: Preparation): Promise<void> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    throw new Error("A cluster needs Linux and root: kubelets make cgroups, mounts and network namespaces.");
  }
  const cgroups = cgroupMode();
  if (cgroups !== "v1") {
    throw new Error(
      `Only cgroups v1 (or hybrid) are supported here, this machine has ${cgroups}. Use a cluster of your own instead: npm run e2e -- --context NAME --registry REGISTRY.`,
    );
  }
  const missing = missingRequirements(path);
  if (missing.names.length === 0) return;
  if (!install || missing.apt.length === 0) throw new Error(missingSentence(missing));
  say(`apt-get install ${missing.apt.join(" ")}`);
  await installMissing(missing);
  const still = missingRequirements(path);
  if (still.names.length > 0) throw new Error(missingSentence(still));
}
