#!/usr/bin/env node
/** Runs the bundle as the npm package's command, or reports that the package has none. */
import { existsSync } from "node:fs";

// .npmrc disables scripts, including prepack, so a plain `npm pack` in a fresh clone packs no bundle.
const bundle = new URL("../build/release/lastcall/lastcall.mjs", import.meta.url);
if (existsSync(bundle)) await import(bundle.href);
else {
  process.stderr.write("lastcall: the bundle is missing. Run `npm run bundle` in the clone, or pack with `npm run package`.\n");
  process.exitCode = 1;
}
