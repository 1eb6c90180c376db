/** `npm run cluster -- build NAME…`: the programs that tests on a real Kubernetes need. */
import { buildModule, deleteCompilerCache } from "./build/build-module.ts";
import { GO_MODULES, isModuleName } from "./build/module-table.ts";
import { cacheFolder } from "./host/cache-folder.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function build(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !isModuleName(name));
  if (names.length === 0 || unknown.length > 0) {
    say(`build: got ${unknown.join(", ") || "no name"}; there is ${Object.keys(GO_MODULES).join(", ")}.`);
    return 64;
  }
  const cache = cacheFolder(process.env);
  try {
    for (const name of names.filter(isModuleName)) {
      const { binaries } = await buildModule(name, { cache, say });
      process.stdout.write(`${binaries}\n`);
    }
    return 0;
  } finally {
    deleteCompilerCache(cache);
  }
}

const [command, ...rest] = process.argv.slice(2);
if (command === "build") {
  process.exitCode = await build(rest);
} else {
  say("usage: cluster build NAME…");
  process.exitCode = 64;
}
