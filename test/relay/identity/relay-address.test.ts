import { expect, test } from "vitest";
import { readRelayAddress } from "../../../src/relay/identity/relay-access.ts";

test.for([
  ["10.96.0.7:443", "10.96.0.7:443"],
  ["[10.96.0.7]:443", "10.96.0.7:443"],
  ["[fd00::7]:8443", "[fd00::7]:8443"],
  ["fd00::7:443", "[fd00::7]:443"],
  ["[::ffff:10.0.0.1]:1", "[::ffff:10.0.0.1]:1"],
] as const)("the relay address %s is accepted", ([text, address]) => {
  expect(readRelayAddress(text)).toBe(address);
});

test.for([
  "",
  ":443",
  "10.96.0.7",
  "10.96.0.7:",
  "10.96.0.7:0",
  "10.96.0.7:65536",
  "10.96.0.7:4430000",
  "10.96.0.7:443 ",
  "10.96.0:443",
  "None:443",
  "lastcall-webhook.lastcall.svc:443",
  "[fe80::1%eth0]:443",
  "[[::1]]:443",
  "[::1:443",
  "[$(LASTCALL_WEBHOOK_SERVICE_HOST)]:$(LASTCALL_WEBHOOK_SERVICE_PORT)",
])("the relay address %j is rejected", (text) => {
  expect(readRelayAddress(text)).toBeUndefined();
});
