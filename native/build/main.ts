/** `npm run build:native [-- --variant=NAME] [--into=FOLDER]` builds the manager as one static binary. */
import { buildManager } from "./build.ts";
import { BuildError } from "./build-error.ts";
import { shippedVariant, VARIANTS, type VariantName } from "./variants.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 64;

const variantNames = Object.keys(VARIANTS).join(", ");
const options: { variant: string; into: string } = { variant: shippedVariant(process.arch), into: "" };
for (const arg of process.argv.slice(2)) {
  const [, flag, value] = /^--(variant|into)=(.+)$/.exec(arg) ?? [];
  if (flag === "variant" && value !== undefined && isVariant(value)) options.variant = value;
  else if (flag === "into" && value !== undefined) options.into = value;
  else exitWithUsage(arg);
}

try {
  const manager = await buildManager(options.variant as VariantName, options.into);
  const state = manager.isRebuilt ? "built" : "up to date";
  process.stdout.write(`${manager.file}: ${state}, ${manager.bytes} bytes, sha256 ${manager.sha256}\n`);
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  process.stderr.write(`build:native: ${error.message}\n`);
  process.exit(EXIT_FAILED);
}

function isVariant(name: string): boolean {
  return Object.hasOwn(VARIANTS, name);
}

function exitWithUsage(arg: string): never {
  process.stderr.write(
    `build:native: unknown argument ${arg}; expected --variant=NAME with one of ${variantNames}, or --into=FOLDER\n`,
  );
  process.exit(EXIT_USAGE);
}
