/** Checks the requirements of a cluster before anything is started. */
import { installMissingPackages, missingRequirements, missingRequirementsMessage } from "./requirements.ts";
import { readCgroupMode } from "./this-host.ts";

export type Preparation = {
  readonly installsPackages: boolean;
  /** Folders of PATH. */
  readonly pathFolders: readonly string[];
  readonly print: (line: string) => void;
};

/** @throws with the missing requirements and a remedy. */
export async function prepareMachine({ installsPackages, pathFolders, print }: Preparation): Promise<void> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    throw new Error(
      "This machine is not Linux, or this process is not root. A cluster needs both: its kubelets create cgroups, mounts and network namespaces.",
    );
  }
  const cgroups = readCgroupMode();
  if (cgroups !== "v1") {
    throw new Error(
      `This machine has cgroups ${cgroups}, and only v1 (or hybrid) is supported. Use an existing cluster: npm run e2e -- --context NAME --registry REGISTRY.`,
    );
  }
  const missing = missingRequirements(pathFolders);
  if (missing.names.length === 0) return;
  if (!installsPackages || missing.apt.length === 0) throw new Error(missingRequirementsMessage(missing));
  print(`apt-get install ${missing.apt.join(" ")}`);
  await installMissingPackages(missing);
  const stillMissing = missingRequirements(pathFolders);
  if (stillMissing.names.length > 0) throw new Error(missingRequirementsMessage(stillMissing));
}
