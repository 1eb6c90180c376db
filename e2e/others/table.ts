/** `npm run table:gateways`: writes the results of the last `npm run e2e -- --others` into the guides. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceSection } from "../../test/programs/results/page.ts";
import { gatewayResults } from "../client/gateway-results.ts";
import { meshResults } from "../client/mesh-results.ts";
import { gatewayTables } from "./gateway-page.ts";
import { meshTable } from "./mesh-page.ts";

const GUIDES = { "envoy-gateway": "Envoy Gateway", contour: "Contour" } as const;

const gateways = gatewayResults.read();
const mesh = meshResults.read();
for (const [guide, gateway] of Object.entries(GUIDES))
  writeRollouts(
    guide,
    gateways.some((result) => result.gateway === gateway) ? gatewayTables(gateway, gateways) : undefined,
  );
writeRollouts("istio", mesh.length > 0 ? meshTable(mesh) : undefined);

function writeRollouts(guide: string, section: string | undefined): void {
  if (section === undefined) {
    process.stderr.write(`docs/guides/${guide}.md is not written; run npm run e2e -- --others -- ${guide}\n`);
    process.exitCode = 1;
    return;
  }
  const page = join(import.meta.dirname, `../../docs/guides/${guide}.md`);
  writeFileSync(page, replaceSection(readFileSync(page, "utf8"), "rollouts", section));
}
