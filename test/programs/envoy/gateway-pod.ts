/** The Pod of a gateway as Envoy Gateway makes it, without its shutdown manager. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CommandLine } from "../install/program-of.ts";
import { type EnvoyShape, envoyConfig } from "./envoy-config.ts";
import type { Scene } from "./scene.ts";
import { PROXY } from "./upstream-ports.ts";

export type GatewayParts = {
  readonly scene: Scene;
  readonly name: string;
  readonly envoy: CommandLine;
  readonly folder: string;
} & Omit<EnvoyShape, "fewStatistics">;

/** The driver is recognised by the label and the image, and finds the admin interface by itself. */
export async function gatewayPod({ scene, name, envoy, folder, ...shape }: GatewayParts): Promise<object> {
  const file = join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify(envoyConfig({ ...shape, fewStatistics: scene.fewStatistics ?? false })));
  const settings = Object.entries(scene.settings ?? {}).map(([key, value]) => [`lastcall.dev/${key}`, value]);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "shop",
      labels: { "gateway.envoyproxy.io/owning-gateway-name": "shop" },
      annotations: Object.fromEntries(settings),
    },
    spec: {
      terminationGracePeriodSeconds: 30,
      containers: [
        {
          name: "envoy",
          image: "docker.io/envoyproxy/envoy:distroless-v1.40.0",
          command: [...envoy.command],
          args: ["-c", file, ...argumentsOf(scene)],
          env: Object.entries(envoy.environment).map(([variable, value]) => ({ name: variable, value })),
          ports: [{ name: "web", containerPort: PROXY.web }],
          readinessProbe: { httpGet: { path: "/ready", port: PROXY.ready }, periodSeconds: 1 },
        },
      ],
    },
  };
}

/** Those of Envoy Gateway, as far as they need no control plane. */
function argumentsOf(scene: Scene): string[] {
  const strategy: string = scene.strategy ?? "immediate";
  const flags = ["--drain-strategy", strategy, "--drain-time-s", "60", "--concurrency", "2"];
  return [...flags, "--disable-hot-restart", "--log-level", "error"];
}
