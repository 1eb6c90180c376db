/** Builds the Deployments that are rolled: the app itself, or an Envoy with an upstream that is not rolled. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildCluster, httpFilter, tcpAt } from "../envoy/envoy-parts.ts";
import { webDeployment } from "../harness/web-deployment.ts";
import { ACTIVE_PORT, HTTP1_PORT, UPSTREAM_HOST, UPSTREAM_HTTP1_PORT, UPSTREAM_HTTP2_PORT } from "./app-facts.ts";
import type { DrainSettings, Driver, Ending, RolloutsRequest } from "./rollouts-request.ts";

export const APP = join(import.meta.dirname, "rollout-app.ts");

const ENVOY_ADMIN_PORT = 19_000;

const READINESS = { httpGet: { path: "/healthz", port: HTTP1_PORT }, periodSeconds: 1, timeoutSeconds: 3 };

const SLEEP_SECONDS = 5;
/** The default of Kubernetes. */
const GRACE_SECONDS = 30;

export function deploymentOf(request: RolloutsRequest, scratch: string): object {
  const { driver, settings, envoy, shutdown, ending } = request;
  const annotations = { ...annotationsOf(settings, driver), ...endingAnnotations(ending, settings) };
  if (driver !== "envoy") {
    const command = [process.execPath, APP, shutdown];
    const container = { image: "example.org/hello:1", command, env: [], readinessProbe: READINESS };
    if (ending !== "sleep") return webDeployment(container, { annotations });
    const lifecycle = { preStop: { sleep: { seconds: SLEEP_SECONDS } } };
    const labels = { "lastcall.dev/inject": "disabled" };
    return webDeployment({ ...container, lifecycle }, { labels, graceSeconds: GRACE_SECONDS });
  }
  if (envoy === undefined) throw new Error("the request has no Envoy, which the driver envoy needs");
  const config = join(scratch, "envoy.json");
  writeFileSync(config, JSON.stringify(gatewayConfig()));
  const flags = ["-c", config, "--concurrency", "1", "--drain-strategy", "immediate", "--disable-hot-restart"];
  const command = [...envoy.command, ...flags, "--log-level", "error"];
  const env = Object.entries(envoy.environment).map(([name, value]) => ({ name, value }));
  return webDeployment({ image: "example.org/envoy:1", command, env, readinessProbe: READINESS }, { annotations });
}

function endingAnnotations(ending: Ending, { timeoutMs }: DrainSettings): Record<string, string> {
  if (ending === "declared") return { "lastcall.dev/shutdown": "graceful" };
  return ending === "full wait" ? { "lastcall.dev/patience": `${timeoutMs}ms` } : {};
}

function annotationsOf({ delayMs, quietMs, timeoutMs }: DrainSettings, driver: Driver): Record<string, string> {
  const urls: Readonly<Record<Driver, Record<string, string>>> = {
    none: {},
    http: {
      "lastcall.dev/drain-url": `http://127.0.0.1:${ACTIVE_PORT}/drain`,
      "lastcall.dev/active-url": `http://127.0.0.1:${ACTIVE_PORT}/active`,
    },
    envoy: { "lastcall.dev/driver-url": `http://127.0.0.1:${ENVOY_ADMIN_PORT}` },
  };
  return {
    "lastcall.dev/drain-delay": `${delayMs}ms`,
    "lastcall.dev/quiet-period": `${quietMs}ms`,
    "lastcall.dev/drain-timeout": `${timeoutMs}ms`,
    "lastcall.dev/driver": driver,
    ...urls[driver],
  };
}

function gatewayConfig(): object {
  const routes = [
    { match: { prefix: "/", grpc: {} }, route: { cluster: "grpc", timeout: "0s" } },
    { match: { prefix: "/" }, route: { cluster: "http1", timeout: "0s" } },
  ];
  const filters = [httpFilter({ prefix: "web", codec: "AUTO" }, routes)];
  return {
    admin: { address: tcpAt("127.0.0.1", ENVOY_ADMIN_PORT) },
    static_resources: {
      listeners: [{ name: "web", address: tcpAt("0.0.0.0", HTTP1_PORT), filter_chains: [{ filters }] }],
      clusters: [
        buildCluster("http1", tcpAt(UPSTREAM_HOST, UPSTREAM_HTTP1_PORT)),
        buildCluster("grpc", tcpAt(UPSTREAM_HOST, UPSTREAM_HTTP2_PORT), "http2"),
      ],
    },
  };
}
