import { describe, expect, test } from "vitest";
import { readRelayAddress } from "../../src/relay/identity/relay-access.ts";
import { readSettings } from "../../src/webhook/config.ts";
import { readDocumentedPolicy } from "./documented-policy.ts";
import { expandArgs } from "./kubelet-arguments.ts";
import { at, listOf, ofKind, onlyOfKind, render, type Values } from "./rendering.ts";

function podSpecOf(values: Values = {}): unknown {
  return at(onlyOfKind(render(values), "Deployment"), "spec", "template", "spec");
}

function settingsOf(values: Values, address: string) {
  const manifest = onlyOfKind(render(values), "Service");
  const ports = Object.fromEntries(
    listOf(manifest, "spec", "ports").map((port) => [String(at(port, "name")), Number(at(port, "port"))]),
  );
  const service = { name: manifest.metadata.name, address, ports };
  const [, ...flags] = expandArgs(podSpecOf(values), [service]);
  const { settings, problems } = readSettings(flags, {});
  expect(problems).toEqual([]);
  const { relaySecret, relayAddress, relayPort, relayReadPods, adminPort, adminListen } = settings;
  return { relaySecret, relayAddress, relayPort, relayReadPods, adminPort, adminListen };
}

describe("with the relay, which is enabled by default,", () => {
  test.for([
    ["10.96.0.7", "10.96.0.7:8444"],
    ["fd00:10::7", "[fd00:10::7]:8444"],
  ] as const)("the server injects the address %s of its Service into Pods as %s", ([address, expected]) => {
    expect(settingsOf({}, address)).toEqual({
      relaySecret: "lastcall-relay",
      relayAddress: `[${address}]:8444`,
      relayPort: 8_444,
      relayReadPods: true,
      adminPort: 8_081,
      adminListen: "loopback",
    });
    expect(readRelayAddress(`[${address}]:8444`)).toBe(expected);
  });

  test("another container port does not change the Service's port, which running Pods use", () => {
    const values = { relay: { port: 9_444 } };
    expect(settingsOf(values, "10.0.0.1")).toMatchObject({ relayAddress: "[10.0.0.1]:8444", relayPort: 9_444 });
    expect(listOf(podSpecOf(values), "containers", 0, "ports")[1]).toMatchObject({
      name: "relay",
      containerPort: 9_444,
    });
    const [, port] = listOf(onlyOfKind(render(values), "Service"), "spec", "ports");
    expect(port).toMatchObject({ name: "relay", port: 8_444, targetPort: "relay" });
  });

  test("the relay's address is invalid if the kubelet does not set Service variables", () => {
    const [, ...flags] = expandArgs(podSpecOf(), []);
    const { settings, problems } = readSettings(flags, {});
    expect(problems).toEqual([]);
    expect(readRelayAddress(settings.relayAddress)).toBeUndefined();
  });

  test("the webhook's Pods enable the Service variables of the kubelet", () => {
    expect(at(podSpecOf(), "enableServiceLinks")).toBe(true);
  });

  test("the admin port has a name and is not a port of a Service", () => {
    const container = at(podSpecOf({ relay: { adminPort: 9_090 } }), "containers", 0);
    expect(listOf(container, "ports")[2]).toEqual({ name: "admin", containerPort: 9_090, protocol: "TCP" });
    const services = ofKind(render({ relay: { adminPort: 9_090 } }), "Service");
    expect(services.flatMap((service) => listOf(service, "spec", "ports").map((port) => at(port, "name")))).toEqual([
      "https",
      "relay",
    ]);
  });

  test("the admin port listens on all addresses if relay.adminListen is all", () => {
    expect(settingsOf({ relay: { adminListen: "all" } }, "10.0.0.1").adminListen).toBe("all");
  });

  test("the admin port 0 disables the page of recent drains", () => {
    expect(settingsOf({ relay: { adminPort: 0 } }, "10.0.0.1").adminPort).toBe(0);
    expect(listOf(podSpecOf({ relay: { adminPort: 0 } }), "containers", 0, "ports")).toHaveLength(2);
  });
});

test("without the relay, no object, flag or port of the relay is rendered", () => {
  const values = { relay: { enabled: false, adminPort: 8_081 } };
  expect(settingsOf(values, "10.0.0.1")).toEqual({
    relaySecret: "",
    relayAddress: "",
    relayPort: 8_444,
    relayReadPods: false,
    adminPort: 0,
    adminListen: "loopback",
  });
  expect(ofKind(render(values), "Secret").map(({ metadata }) => metadata.name)).toEqual(["lastcall-ca"]);
  expect(listOf(podSpecOf(values), "containers", 0, "ports")).toHaveLength(1);
  expect(listOf(onlyOfKind(render(values), "Service"), "spec", "ports")).toHaveLength(1);
  expect(at(podSpecOf(values), "enableServiceLinks")).toBe(false);
});

describe("the NetworkPolicy", () => {
  const policyOf = (values: Values, networkPolicy: object = {}) =>
    at(onlyOfKind(render({ ...values, networkPolicy: { enabled: true, ...networkPolicy } }), "NetworkPolicy"), "spec");
  const webhookRule = { ports: [{ port: 8_443, protocol: "TCP" }] };
  const relayRule = { from: [{ namespaceSelector: {} }], ports: [{ port: 8_444, protocol: "TCP" }] };

  test("allows all clients to connect to the webhook and all Pods to connect to the relay, but does not allow connections to the admin port", () => {
    expect(at(policyOf({}), "ingress")).toEqual([webhookRule, relayRule]);
    expect(at(policyOf({ relay: { port: 9_444 } }), "ingress", 1, "ports")).toEqual([{ port: 9_444, protocol: "TCP" }]);
  });

  test("restricts the webhook to the configured clients", () => {
    const webhookFrom = [
      { ipBlock: { cidr: "10.0.0.1/32" } },
      { namespaceSelector: { matchLabels: { team: "monitoring" } }, podSelector: {} },
    ];
    expect(at(policyOf({}, { webhookFrom }), "ingress")).toEqual([{ from: webhookFrom, ...webhookRule }, relayRule]);
  });

  test("allows the configured API servers as clients of the admin port if it listens on all addresses", () => {
    const apiServerAddresses = ["10.0.0.1/32", "fd00::1/128"];
    const from = apiServerAddresses.map((cidr) => ({ ipBlock: { cidr } }));
    expect(at(policyOf({}, { apiServerAddresses }), "ingress")).toEqual([webhookRule, relayRule]);
    const relay = { adminListen: "all" };
    expect(at(policyOf({ relay }, { apiServerAddresses }), "ingress")).toEqual([
      webhookRule,
      relayRule,
      { from, ports: [{ port: 8_081, protocol: "TCP" }] },
    ]);
    expect(at(policyOf({ relay: { ...relay, adminPort: 0 } }, { apiServerAddresses }), "ingress")).toEqual([
      webhookRule,
      relayRule,
    ]);
    expect(at(policyOf({ relay: { enabled: false } }, { apiServerAddresses }), "ingress")).toEqual([webhookRule]);
  });

  test("allows the server's own connections to API servers and DNS", () => {
    expect(at(policyOf({}, { apiServerPorts: [6_443] }), "egress")).toEqual([
      { ports: [{ port: 6_443, protocol: "TCP" }] },
      { ports: ["UDP", "TCP"].map((protocol) => ({ port: 53, protocol })) },
    ]);
  });
});

test("the documented NetworkPolicy allows Pods to connect to the relay", () => {
  const policy = readDocumentedPolicy();
  const [rule] = listOf(policy, "spec", "egress");
  const template = at(onlyOfKind(render(), "Deployment"), "spec", "template");
  expect(at(template, "metadata", "labels")).toMatchObject(at(rule, "to", 0, "podSelector", "matchLabels") as object);
  expect(at(rule, "to", 0, "namespaceSelector", "matchLabels")).toEqual({ "kubernetes.io/metadata.name": "lastcall" });
  const [, relay] = listOf(template, "spec", "containers", 0, "ports");
  expect(at(relay, "name")).toBe("relay");
  expect(at(rule, "ports")).toEqual([{ port: at(relay, "containerPort"), protocol: "TCP" }]);
});
