/** Downloads musl for arm64 from Debian's archive and unpacks it below the build folder; nothing is installed. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { BuildError } from "./build-error.ts";
import { runProgram } from "./run-program.ts";

/** Pinned by version; apt verifies the archive's signature and the package's hash. */
const MUSL_PACKAGE = "musl-dev=1.2.3-1";

export async function fetchArm64Musl(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  mkdirSync(dirname(folder), { recursive: true });
  const temporaryFolder = mkdtempSync(`${folder}-`);
  for (const part of ["state/lists/partial", "cache/archives/partial"])
    mkdirSync(`${temporaryFolder}/${part}`, { recursive: true });
  const aptOptions = [
    ...["-o", "APT::Architecture=arm64", "-o", "APT::Architectures=arm64"],
    ...[
      "-o",
      `Dir::State=${temporaryFolder}/state`,
      "-o",
      "Dir::State::status=/dev/null",
      "-o",
      `Dir::Cache=${temporaryFolder}/cache`,
    ],
  ];
  await runProgram("apt-get", [...aptOptions, "update", "-qq"], temporaryFolder);
  await runProgram("apt-get", [...aptOptions, "download", "-qq", MUSL_PACKAGE], temporaryFolder);
  const archive = readdirSync(temporaryFolder).find((name) => name.endsWith(".deb"));
  if (archive === undefined) throw new BuildError(`apt-get did not download ${MUSL_PACKAGE} for arm64`);
  await runProgram("dpkg", ["-x", archive, "unpacked"], temporaryFolder);
  renameSync(`${temporaryFolder}/unpacked`, folder);
  rmSync(temporaryFolder, { recursive: true });
}
