/** Builds the Pod that Envoy Gateway creates for a Gateway, without its shutdown manager. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CommandLine } from "../install/program-of.ts";
import { type EnvoyOptions, envoyConfig } from "./envoy-config.ts";
import type { Scenario } from "./envoy-scenario.ts";
import { PROXY_PORTS } from "./upstream-ports.ts";

export type GatewayParts = {
  readonly scenario: Scenario;
  readonly name: string;
  readonly envoy: CommandLine;
  readonly folder: string;
} & Omit<EnvoyOptions, "fewStatistics">;

/** The webhook detects the driver by the label and the image, so the Pod does not need an annotation for the driver or its URL. */
export async function gatewayPod({ scenario, name, envoy, folder, ...envoyOptions }: GatewayParts): Promise<object> {
  const file = join(folder, `${name}.json`);
  await writeFile(
    file,
    JSON.stringify(envoyConfig({ ...envoyOptions, fewStatistics: scenario.fewStatistics ?? false })),
  );
  const annotations = Object.entries(scenario.settings ?? {}).map(([key, value]) => [`lastcall.dev/${key}`, value]);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "shop",
      labels: { "gateway.envoyproxy.io/owning-gateway-name": "shop" },
      annotations: Object.fromEntries(annotations),
    },
    spec: {
      terminationGracePeriodSeconds: 30,
      containers: [
        {
          name: "envoy",
          image: "docker.io/envoyproxy/envoy:distroless-v1.40.0",
          command: [...envoy.command],
          args: ["-c", file, ...envoyArguments(scenario)],
          env: Object.entries(envoy.environment).map(([variable, value]) => ({ name: variable, value })),
          ports: [{ name: "web", containerPort: PROXY_PORTS.web }],
          readinessProbe: { httpGet: { path: "/ready", port: PROXY_PORTS.ready }, periodSeconds: 1 },
        },
      ],
    },
  };
}

function envoyArguments(scenario: Scenario): string[] {
  const strategy: string = scenario.strategy ?? "immediate";
  const flags = ["--drain-strategy", strategy, "--drain-time-s", "60", "--concurrency", "2"];
  return [...flags, "--disable-hot-restart", "--log-level", "error"];
}
