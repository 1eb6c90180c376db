/** `npm run sbom`: writes a CycloneDX SBOM of each image into build/sbom. */
import { fileURLToPath } from "node:url";
import { writeSboms } from "./images.ts";

const OUTPUT_FOLDER = fileURLToPath(new URL("../../build/sbom", import.meta.url));

for (const file of await writeSboms(OUTPUT_FOLDER)) process.stdout.write(`${file}\n`);
