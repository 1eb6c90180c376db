/** `npm run build:preload [-- --into=FOLDER]` builds the preload library for each processor with a compiler. */
import { copyFileSync } from "node:fs";
import { BuildError } from "./build-error.ts";
import { missingPrograms } from "./host-programs.ts";
import { outputFolder } from "./paths.ts";
import { buildPreload, PROCESSOR_NAMES, type ProcessorName, processorOf } from "./preload.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 64;

const [firstArg, ...otherArgs] = process.argv.slice(2);
const into = firstArg === undefined ? "" : /^--into=(.+)$/.exec(firstArg)?.[1];
if (into === undefined || otherArgs.length > 0) {
  process.stderr.write("build:preload: unknown arguments; expected only --into=FOLDER\n");
  process.exit(EXIT_USAGE);
}

try {
  for (const name of PROCESSOR_NAMES) {
    const missing = missingPrograms(processorOf(name));
    // A missing cross compiler does not prevent the build for the host's own processor.
    if (missing.length > 0) process.stdout.write(`${name}: not built, the host lacks ${missing.join(" and ")}\n`);
    else await buildLibrary(name, outputFolder(into));
  }
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  process.stderr.write(`build:preload: ${error.message}\n`);
  process.exit(EXIT_FAILED);
}

async function buildLibrary(name: ProcessorName, folder: string): Promise<void> {
  const library = await buildPreload(name, `${folder}/lastcall-preload-${name}.so`);
  // The Dockerfile copies the library for the build host's processor.
  if (name === process.arch) copyFileSync(library.file, `${folder}/lastcall-preload.so`);
  process.stdout.write(`${library.file}: ${library.bytes} bytes, sha256 ${library.sha256}, needs no other library\n`);
}
