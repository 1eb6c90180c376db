/** Finds missing requirements of the host, and installs their Debian packages. */
import { accessSync, constants, existsSync } from "node:fs";
import { join } from "node:path";
import { attempt, run } from "./run.ts";

type Requirement = {
  readonly name: string;
  /** The Debian package, or a remedy for a requirement without one. */
  readonly source: { readonly apt: string } | { readonly advice: string };
  readonly isInstalled: (path: readonly string[]) => boolean;
};

const programRequirement = (name: string, apt: string): Requirement => ({
  name,
  source: { apt },
  isInstalled: (path) => path.some((folder) => isExecutable(join(folder, name))),
});

/** Folders of CNI plugins: in Debian, in the documentation of container runtimes, and in Fedora. */
const CNI_FOLDERS = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];
const CNI_PLUGINS = ["ptp", "host-local", "loopback", "portmap"];

const GO: Requirement = {
  ...programRequirement("go", ""),
  source: { advice: "Go 1.26 or newer on PATH, from https://go.dev/dl" },
};

const BUILD_REQUIREMENTS = [
  GO,
  programRequirement("flock", "util-linux"),
  programRequirement("setpriv", "util-linux"),
  programRequirement("nice", "coreutils"),
];
const CLUSTER_REQUIREMENTS = [
  programRequirement("runc", "runc"),
  programRequirement("nft", "nftables"),
  programRequirement("iptables", "iptables"),
  programRequirement("ip", "iproute2"),
  programRequirement("unshare", "util-linux"),
  programRequirement("nsenter", "util-linux"),
  programRequirement("mount", "mount"),
  programRequirement("openssl", "openssl"),
  {
    name: `CNI plugins ${CNI_PLUGINS.join(", ")}`,
    source: { apt: "containernetworking-plugins" },
    isInstalled: () => findCniFolder() !== undefined,
  },
];

/** Standard folders of programs; the PATH of some users does not contain the sbin folders. */
export const SYSTEM_PATH: readonly string[] = [
  "/usr/local/sbin",
  "/usr/local/bin",
  "/usr/sbin",
  "/usr/bin",
  "/sbin",
  "/bin",
];

export function findCniFolder(): string | undefined {
  return CNI_FOLDERS.find((folder) => CNI_PLUGINS.every((plugin) => existsSync(join(folder, plugin))));
}

export type MissingRequirements = {
  readonly names: readonly string[];
  readonly apt: readonly string[];
  readonly advice: readonly string[];
};

/** @param path folders of PATH. */
export function missingRequirements(path: readonly string[]): MissingRequirements {
  const missing = [...BUILD_REQUIREMENTS, ...CLUSTER_REQUIREMENTS].filter(
    (requirement) => !requirement.isInstalled([...path, ...SYSTEM_PATH]),
  );
  return {
    names: missing.map((one) => one.name),
    apt: [...new Set(missing.flatMap(({ source }) => ("apt" in source ? [source.apt] : [])))],
    advice: [...new Set(missing.flatMap(({ source }) => ("advice" in source ? [source.advice] : [])))],
  };
}

export function missingRequirementsMessage(missing: MissingRequirements): string {
  const remedies = [
    ...(missing.apt.length === 0 ? [] : [`apt-get install ${missing.apt.join(" ")} (or add --install)`]),
    ...missing.advice,
  ];
  return `Requirements are missing on this machine: ${missing.names.join(", ")}. Install them: ${remedies.join("; ")}.`;
}

/** Installs the missing Debian packages. Rejects with apt's error. */
export async function installMissingPackages(missing: MissingRequirements): Promise<void> {
  if (missing.apt.length === 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await attempt("apt-get", ["update", "-qq"], { env });
  await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing.apt], { env });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
