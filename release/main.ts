/** `npm run bundle`: bundles the programs as plain JavaScript into build/release. */
import { fileURLToPath } from "node:url";
import { bundleInto } from "./bundle.ts";

const OUTPUT_FOLDER = fileURLToPath(new URL("../build/release", import.meta.url));

await bundleInto(OUTPUT_FOLDER);
process.stdout.write(`${OUTPUT_FOLDER}: lastcall/lastcall.mjs, manager/lastcall-manager.mjs\n`);
