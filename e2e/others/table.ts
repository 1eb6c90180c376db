/** `npm run table:gateways`: writes the results of the last `npm run e2e -- --others` into the guides. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceSection } from "../../test/programs/results/page.ts";
import { gatewayResults } from "../client/gateway-results.ts";
import { meshResults } from "../client/mesh-results.ts";
import { type GatewayNames, gatewayTables } from "./gateway-page.ts";
import { meshTable } from "./mesh-page.ts";

const OWN_MANAGER = "its own shutdown manager";
const GUIDES: Readonly<Record<string, GatewayNames>> = {
  "envoy-gateway": { gateway: "Envoy Gateway", own: OWN_MANAGER, proxy: "Envoy" },
  contour: { gateway: "Contour", own: OWN_MANAGER, proxy: "Envoy" },
  traefik: { gateway: "Traefik", own: "its own wait of 5 s at SIGTERM", proxy: "Traefik" },
};

const gateways = gatewayResults.read();
const mesh = meshResults.read();
for (const [guide, names] of Object.entries(GUIDES))
  writeRollouts(
    guide,
    gateways.some(({ gateway }) => gateway === names.gateway) ? gatewayTables(names, gateways) : undefined,
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
