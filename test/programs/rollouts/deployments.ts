/** The Deployments that are rolled: the app itself, or an Envoy before an app that stays. Pure. */
import { join } from "node:path";
import type { FoundProgram } from "../install/program-of.ts";
import { ACTIVE_PORT, HTTP1_PORT } from "./app-facts.ts";
import { ENVOY_ADMIN_PORT } from "./gateway-config.ts";
import type { DrainSettings } from "./rollouts-request.ts";

export const APP = join(import.meta.dirname, "rollout-app.ts");

const REPLICAS = 2;

export type Driver = "none" | "http" | "envoy";

/** @param node the program that runs the app */
export function appDeployment(node: string, settings: DrainSettings, driver: "none" | "http"): object {
  const command = [node, APP];
  return deployment({ image: "example.org/hello:1", command, env: [] }, annotations(settings, driver));
}

/** @param config the file that Envoy reads */
export function envoyDeployment(program: FoundProgram, settings: DrainSettings, config: string): object {
  const flags = ["-c", config, "--concurrency", "1", "--drain-strategy", "immediate", "--disable-hot-restart"];
  const command = [...program.command, ...flags, "--log-level", "error"];
  const env = Object.entries(program.environment).map(([name, value]) => ({ name, value }));
  return deployment({ image: "example.org/envoy:1", command, env }, annotations(settings, "envoy"));
}

function annotations({ delayMs, quietMs, timeoutMs }: DrainSettings, driver: Driver): Record<string, string> {
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

function deployment(container: object, annotations: Record<string, string>): object {
  const ready = { httpGet: { path: "/healthz", port: HTTP1_PORT }, periodSeconds: 1, timeoutSeconds: 3 };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      replicas: REPLICAS,
      template: {
        metadata: { labels: { app: "web" }, annotations },
        spec: {
          terminationGracePeriodSeconds: 10,
          containers: [
            {
              name: "app",
              ...container,
              ports: [{ name: "http", containerPort: HTTP1_PORT, protocol: "TCP" }],
              readinessProbe: ready,
            },
          ],
        },
      },
    },
  };
}
