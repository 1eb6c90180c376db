/** Builds the Pod that Istio's injector makes, with a real Envoy in place of the agent. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_SETTINGS } from "../../../src/contract/drain-settings.ts";
import type { CommandLine } from "../install/program-of.ts";
import { ISTIO_ARGUMENTS, type IstioOptions, istioConfig } from "./istio-config.ts";
import { ISTIO_PORTS, runAs, UIDS } from "./istio-ports.ts";

export type IstioPodParts = IstioOptions & {
  readonly name: string;
  readonly form: "native" | "classic";
  readonly envoy: CommandLine;
  readonly app: readonly string[];
  readonly folder: string;
};

/** Request that Istio's agent sends to Envoy in its preStop hook. */
const AGENT_DRAIN_REQUEST = `POST /drain_listeners?inboundonly&graceful&skip_exit HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n`;
const AGENT_HOOK = {
  exec: {
    command: [
      "bash",
      "-c",
      `exec 3<>/dev/tcp/127.0.0.1/${ISTIO_PORTS.admin}; printf '${AGENT_DRAIN_REQUEST}' >&3; cat <&3 >/dev/null`,
    ],
  },
};

export async function istioPod({ name, form, envoy, app, folder, ...istioOptions }: IstioPodParts): Promise<object> {
  const file = join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify(istioConfig(istioOptions)));
  const excludedPorts = [ISTIO_PORTS.stats, ISTIO_PORTS.status, ISTIO_PORTS.agent, DEFAULT_SETTINGS.port];
  const proxy = {
    name: "istio-proxy",
    image: "registry.istio.io/release/proxyv2:1.27",
    command: [...runAs(UIDS.proxy, [...envoy.command, "-c", file, ...ISTIO_ARGUMENTS])],
    env: Object.entries(envoy.environment).map(([variable, value]) => ({ name: variable, value })),
    ports: [{ name: "http-envoy-prom", containerPort: ISTIO_PORTS.stats }],
    readinessProbe: { httpGet: { path: "/healthz/ready", port: ISTIO_PORTS.status }, periodSeconds: 1 },
    securityContext: { runAsUser: UIDS.proxy },
  };
  const initContainer = {
    name: "istio-init",
    command: ["sh", "-c", redirectionRules(excludedPorts)],
    args: [
      "istio-iptables",
      "-p",
      "15001",
      "-z",
      "15006",
      "-u",
      "1337",
      "-m",
      "REDIRECT",
      "-d",
      excludedPorts.join(","),
    ],
  };
  const nativeProxy = { ...proxy, restartPolicy: "Always", lifecycle: { preStop: AGENT_HOOK } };
  const appContainer = {
    name: "app",
    command: [...runAs(UIDS.app, app)],
    env: [{ name: "UPSTREAM", value: istioOptions.upstream }],
    securityContext: { runAsUser: UIDS.app },
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "shop",
      labels: { "security.istio.io/tlsMode": "istio" },
      annotations: {
        "traffic.sidecar.istio.io/excludeInboundPorts": String(DEFAULT_SETTINGS.port),
        "sidecar.istio.io/status": "{}",
      },
    },
    spec: {
      terminationGracePeriodSeconds: 30,
      initContainers: form === "native" ? [initContainer, nativeProxy] : [initContainer],
      containers: form === "native" ? [appContainer] : [appContainer, proxy],
    },
  };
}

/** Returns the iptables rules of Istio's init container. @param excludedPorts ports whose inbound connections are not redirected */
function redirectionRules(excludedPorts: readonly number[]): string {
  const rules = [
    ...["ISTIO_INBOUND", "ISTIO_REDIRECT", "ISTIO_IN_REDIRECT", "ISTIO_OUTPUT"].map((chain) => `-N ${chain}`),
    `-A ISTIO_REDIRECT -p tcp -j REDIRECT --to-ports ${ISTIO_PORTS.outbound}`,
    `-A ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-ports ${ISTIO_PORTS.inbound}`,
    "-A PREROUTING -p tcp -j ISTIO_INBOUND",
    ...excludedPorts.map((port) => `-A ISTIO_INBOUND -p tcp --dport ${port} -j RETURN`),
    "-A ISTIO_INBOUND -p tcp -j ISTIO_IN_REDIRECT",
    "-A OUTPUT -p tcp -j ISTIO_OUTPUT",
    "-A ISTIO_OUTPUT -o lo -s 127.0.0.6/32 -j RETURN",
    `-A ISTIO_OUTPUT -o lo ! -d 127.0.0.1/32 -p tcp -m owner --uid-owner ${UIDS.proxy} -j ISTIO_IN_REDIRECT`,
    `-A ISTIO_OUTPUT -o lo -m owner ! --uid-owner ${UIDS.proxy} -j RETURN`,
    `-A ISTIO_OUTPUT -m owner --uid-owner ${UIDS.proxy} -j RETURN`,
    "-A ISTIO_OUTPUT -d 127.0.0.1/32 -j RETURN",
    "-A ISTIO_OUTPUT -j ISTIO_REDIRECT",
  ];
  return rules.map((rule) => `iptables -w 10 -t nat ${rule}`).join(" && ");
}
