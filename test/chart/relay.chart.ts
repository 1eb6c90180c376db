import { describe, expect, test } from "vitest";
import { readRelayAddress } from "../../src/relay/identity/relay-address.ts";
import { readSettings } from "../../src/webhook/config.ts";
import { documentedPolicy } from "./documented-policy.ts";
import { expandedArgs } from "./kubelet-arguments.ts";
import { at, listOf, ofKind, only, render, type Values } from "./rendering.ts";

function podOf(values: Values = {}): unknown {
  return at(only(render(values), "Deployment"), "spec", "template", "spec");
}

function settingsOf(values: Values, address: string) {
  const service = { name: only(render(values), "Service").metadata.name, address, port: 443 };
  const [, ...flags] = expandedArgs(podOf(values), [service]);
  const { settings, problems } = readSettings(flags, {});
  expect(problems).toEqual([]);
  const { relaySecret, relayAddress, relayReadPods, adminPort } = settings;
  return { relaySecret, relayAddress, relayReadPods, adminPort };
}

describe("with the relay, which is the default", () => {
  test.for([
    ["10.96.0.7", "10.96.0.7:443"],
    ["fd00:10::7", "[fd00:10::7]:443"],
  ] as const)("Pods find it at the Service's address %s", ([address, expected]) => {
    expect(settingsOf({}, address)).toEqual({
      relaySecret: "lastcall-relay",
      relayAddress: `[${address}]:443`,
      relayReadPods: false,
      adminPort: 8_081,
    });
    expect(readRelayAddress(`[${address}]:443`)).toBe(expected);
  });

  test("a kubelet that does not know the Service yet leaves what is no address", () => {
    const [, ...flags] = expandedArgs(podOf(), []);
    const { settings, problems } = readSettings(flags, {});
    expect(problems).toEqual([]);
    expect(readRelayAddress(settings.relayAddress)).toBeUndefined();
  });

  test("the kubelet is asked for the Service's variables", () => {
    expect(at(podOf(), "enableServiceLinks")).toBe(true);
  });

  test("the page of drains has a port by name, and stands in no Service", () => {
    const container = at(podOf({ relay: { adminPort: 9_090 } }), "containers", 0);
    expect(listOf(container, "ports")[1]).toEqual({ name: "admin", containerPort: 9_090, protocol: "TCP" });
    const services = ofKind(render({ relay: { adminPort: 9_090 } }), "Service");
    expect(services.flatMap((service) => listOf(service, "spec", "ports").map((port) => at(port, "name")))).toEqual([
      "https",
    ]);
  });

  test("port 0 is none", () => {
    expect(settingsOf({ relay: { adminPort: 0 } }, "10.0.0.1").adminPort).toBe(0);
    expect(listOf(podOf({ relay: { adminPort: 0 } }), "containers", 0, "ports")).toHaveLength(1);
  });
});

test("without it, nothing of it is there", () => {
  const values = { relay: { enabled: false, adminPort: 8_081 } };
  expect(settingsOf(values, "10.0.0.1")).toEqual({
    relaySecret: "",
    relayAddress: "",
    relayReadPods: false,
    adminPort: 0,
  });
  expect(ofKind(render(values), "Secret").map(({ metadata }) => metadata.name)).toEqual(["lastcall-ca"]);
  expect(listOf(podOf(values), "containers", 0, "ports")).toHaveLength(1);
  expect(at(podOf(values), "enableServiceLinks")).toBe(false);
});

describe("the network policy", () => {
  const policyOf = (values: Values, networkPolicy: object = {}) =>
    at(only(render({ ...values, networkPolicy: { enabled: true, ...networkPolicy } }), "NetworkPolicy"), "spec");
  const webhookPort = { ports: [{ port: 8_443, protocol: "TCP" }] };

  test("lets everybody reach the webhook and the relay, and nobody the page of drains", () => {
    expect(at(policyOf({}), "ingress")).toEqual([webhookPort]);
  });

  test("lets API servers alone reach the page of drains where it is told which those are", () => {
    const apiServerAddresses = ["10.0.0.1/32", "fd00::1/128"];
    const from = apiServerAddresses.map((cidr) => ({ ipBlock: { cidr } }));
    expect(at(policyOf({}, { apiServerAddresses }), "ingress")).toEqual([
      webhookPort,
      { from, ports: [{ port: 8_081, protocol: "TCP" }] },
    ]);
    for (const relay of [{ enabled: false }, { adminPort: 0 }])
      expect(at(policyOf({ relay }, { apiServerAddresses }), "ingress")).toEqual([webhookPort]);
  });

  test("lets out what the server calls: API servers and names", () => {
    expect(at(policyOf({}, { apiServerPorts: [6_443] }), "egress")).toEqual([
      { ports: [{ port: 6_443, protocol: "TCP" }] },
      { ports: ["UDP", "TCP"].map((protocol) => ({ port: 53, protocol })) },
    ]);
  });
});

test("the documentation's policy lets Pods out to where the relay is", () => {
  const policy = documentedPolicy();
  const [rule] = listOf(policy, "spec", "egress");
  const server = at(only(render(), "Deployment"), "spec", "template");
  expect(at(server, "metadata", "labels")).toMatchObject(at(rule, "to", 0, "podSelector", "matchLabels") as object);
  expect(at(rule, "to", 0, "namespaceSelector", "matchLabels")).toEqual({ "kubernetes.io/metadata.name": "lastcall" });
  const [https] = listOf(server, "spec", "containers", 0, "ports");
  expect(at(rule, "ports")).toEqual([{ port: at(https, "containerPort"), protocol: "TCP" }]);
});
