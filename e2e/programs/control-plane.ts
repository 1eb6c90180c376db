/**
 * A fake of the programs that Contour and Envoy Gateway run beside their Envoys. `bootstrap FILE` writes Envoy's
 * configuration, without a control plane; `envoy shutdown-manager` answers its probes and starts no drain.
 */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { staticEnvoy } from "./static-envoy.ts";

/** The ports of the shutdown managers of Contour and of Envoy Gateway. */
const SHUTDOWN_MANAGER_PORTS = [8090, 19_002];

const [command, ...commandArgs] = process.argv.slice(2);
if (command === "bootstrap") {
  const config = staticEnvoy({ admin: "/admin/admin.sock", webPort: 8080, readyPort: 8002 });
  writeFileSync(commandArgs[0] ?? "", JSON.stringify(config));
} else {
  for (const port of SHUTDOWN_MANAGER_PORTS) createServer((_, response) => response.end()).listen(port, "::");
  process.once("SIGTERM", () => process.exit(0));
}
