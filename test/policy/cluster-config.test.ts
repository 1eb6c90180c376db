import fc from "fast-check";
import { expect, test } from "vitest";
import { clusterLayer, DEFAULT_CONFIG, readClusterConfig } from "../../src/policy/cluster-config.ts";
import { resolvePolicy } from "../../src/policy/resolve.ts";

test("defaults and profiles reach the policy", () => {
  const { config, problems } = readClusterConfig({
    defaults: { "drain-delay": "8s", profile: "slow" },
    profiles: { slow: { "drain-timeout": "10m" } },
    onInvalid: "deny",
  });
  expect(problems).toEqual([]);
  expect(config.onInvalid).toBe("deny");
  const { policy } = resolvePolicy([clusterLayer(config)], config.profiles);
  expect(policy.drainDelayMs).toBe(8_000);
  expect(policy.drainTimeoutMs).toBe(600_000);
});

test("an empty file is the default configuration", () => {
  expect(readClusterConfig(null)).toEqual({ config: DEFAULT_CONFIG, problems: [] });
});

test("every mistake is named at once", () => {
  const { problems } = readClusterConfig({
    default: {},
    defaults: { "drain-dely": "8s", "drain-delay": 8, inject: "enabled" },
    profiles: { a: [] },
    onInvalid: "explode",
  });
  expect(problems.map(({ where, message }) => `${where}: ${message}`)).toEqual([
    'configuration: "default" cannot be set here; did you mean defaults?',
    'defaults: "drain-dely" cannot be set here; did you mean drain-delay?',
    expect.stringMatching(/^defaults: "inject" cannot be set here; known are mode, /),
    "defaults.drain-delay: Got a number instead of text, expected a duration with a unit, such as 30s, 500ms, 2m or 1h.",
    "profiles.a: Expected a mapping from annotation names to text.",
    'onInvalid: Got "explode", expected one of warn, skip, deny.',
  ]);
});

test("any value is read without a throw", () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      expect(["warn", "skip", "deny"]).toContain(readClusterConfig(value).config.onInvalid);
    }),
  );
});
