/**
 * Finds unpinned inputs of a Dockerfile: Debian packages without an exact version, and package archives that are not snapshots
 * of one date.
 */

const EXACT_VERSION = /^[a-z0-9][a-z0-9.+-]*=(?:\d+:)?[0-9][A-Za-z0-9.+~-]*$/;
const ARCHIVE = /\bhttps?:\/\/[\w.-]+\/\S+/g;
const DATED_ARCHIVE = /^http:\/\/snapshot\.debian\.org\/archive\/debian(?:-security)?\/\$\{DEBIAN_SNAPSHOT\}$/;

export function missingPins(dockerfile: string): readonly string[] {
  const commands = dockerfile.replaceAll("\\\n", " ").match(/^RUN .+$/gm) ?? [];
  const aptCommands = commands.filter((command) => /\bapt(?:-get)?\b/.test(command));
  if (aptCommands.length === 0) return [];
  const packages = aptCommands.flatMap((command) =>
    [...command.matchAll(/\binstall\s([^&|;]*)/g)].flatMap(([, words = ""]) =>
      words.split(/\s+/).filter((word) => word !== "" && !word.startsWith("-")),
    ),
  );
  const archives = aptCommands.flatMap((command) => command.match(ARCHIVE) ?? []);
  return [
    ...packages.filter((name) => !EXACT_VERSION.test(name)).map((name) => `${name} has no version`),
    ...(/^ARG DEBIAN_SNAPSHOT=\d{8}T\d{6}Z$/m.test(dockerfile) ? [] : ["DEBIAN_SNAPSHOT has no time"]),
    ...(archives.length > 0 && archives.every((archive) => DATED_ARCHIVE.test(archive))
      ? []
      : ["an archive is not a snapshot"]),
    // The package sources of the base image are not snapshots, so a Dockerfile has to remove them.
    ...(aptCommands.every((command) => command.includes("rm -f /etc/apt/sources.list.d/*"))
      ? []
      : ["the base image's package sources are not removed"]),
  ];
}
