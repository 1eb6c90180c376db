/** `npm run table:gateways`: writes the results of the last `npm run e2e -- --others` into the guides. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceSection } from "../../test/programs/results/page.ts";
import { readGatewayResults } from "../client/gateway-results.ts";
import { gatewayTables } from "./gateway-page.ts";

const GUIDES = { "envoy-gateway": "Envoy Gateway", contour: "Contour" } as const;

const results = readGatewayResults();
for (const [guide, gateway] of Object.entries(GUIDES)) {
  if (!results.some((result) => result.gateway === gateway)) {
    process.stderr.write(`docs/guides/${guide}.md is not written; run npm run e2e -- --others -- ${guide}\n`);
    process.exitCode = 1;
    continue;
  }
  const page = join(import.meta.dirname, `../../docs/guides/${guide}.md`);
  writeFileSync(page, replaceSection(readFileSync(page, "utf8"), "rollouts", gatewayTables(gateway, results)));
}
