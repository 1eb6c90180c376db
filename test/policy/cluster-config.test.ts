import fc from "fast-check";
import { expect, test } from "vitest";
import { clusterLayer, DEFAULT_CONFIG, readClusterConfig } from "../../src/policy/cluster-config.ts";
import { resolvePolicy } from "../../src/policy/resolve.ts";

test("defaults and profiles of the cluster configuration apply to the policy of a Pod", () => {
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

test("an empty file is read as the default cluster configuration", () => {
  expect(readClusterConfig(null)).toEqual({ config: DEFAULT_CONFIG, problems: [] });
});

test.for([{}, undefined, { defaults: null, profiles: null, onInvalid: null }, { profiles: { slow: null } }])(
  "missing settings of the cluster configuration are valid: %j",
  (value) => {
    const { config, problems } = readClusterConfig(value);
    expect(problems).toEqual([]);
    expect(config).toMatchObject({ defaults: {}, onInvalid: "warn" });
  },
);

test.for(["warn", "skip", "deny"])("the cluster configuration accepts onInvalid: %s", (onInvalid) => {
  const { config, problems } = readClusterConfig({ onInvalid });
  expect(problems).toEqual([]);
  expect(config.onInvalid).toBe(onInvalid);
});

const NO_MAPPING = "expected a mapping from annotation names to text.";
test.for([
  ["configuration", [], "Got a list, expected a mapping with defaults, profiles and onInvalid."],
  ["configuration", "drain-delay", "Got a string, expected a mapping with defaults, profiles and onInvalid."],
  ["profiles", { profiles: ["slow"] }, "Got a list, expected a mapping from profile names to values."],
  ["profiles", { profiles: "slow" }, "Got a string, expected a mapping from profile names to values."],
  ["profiles.slow", { profiles: { slow: "8s" } }, `Got a string, ${NO_MAPPING}`],
  ["defaults", { defaults: ["drain-delay"] }, `Got a list, ${NO_MAPPING}`],
  ["onInvalid", { onInvalid: "" }, 'Got "", expected one of warn, skip, deny.'],
] as const)(
  "a field of the cluster configuration with an invalid value is reported: %s of %j",
  ([where, value, message]) => {
    const { config, problems } = readClusterConfig(value);
    expect(problems).toEqual([{ code: "bad_value", where, message }]);
    expect(config.onInvalid).toBe("warn");
    expect(() => resolvePolicy([clusterLayer(config)], config.profiles)).not.toThrow();
  },
);

test("an unknown setting and a null value in the cluster configuration are reported", () => {
  const { problems } = readClusterConfig({ surprise: 1, defaults: { "drain-delay": null } });
  expect(problems.map(({ code, where, message }) => [code, where, message])).toEqual([
    [
      "unknown_annotation",
      "configuration",
      '"surprise" cannot be set here; expected one of defaults, profiles, onInvalid',
    ],
    ["bad_value", "defaults.drain-delay", expect.stringMatching(/^Got null instead of a string, expected a duration/)],
  ]);
});

test("all invalid values of the cluster configuration are reported together", () => {
  const { problems } = readClusterConfig({
    default: {},
    defaults: { "drain-dely": "8s", "drain-delay": 8, inject: "enabled" },
    profiles: { a: [] },
    onInvalid: "explode",
  });
  expect(problems.map(({ where, message }) => `${where}: ${message}`)).toEqual([
    'configuration: "default" cannot be set here; did you mean defaults?',
    'defaults: "drain-dely" cannot be set here; did you mean drain-delay?',
    expect.stringMatching(/^defaults: "inject" cannot be set here; expected one of mode, /),
    "defaults.drain-delay: Got a number instead of a string, expected a duration with a unit, such as 30s, 500ms, 2m or 1h.",
    "profiles.a: Got a list, expected a mapping from annotation names to text.",
    'onInvalid: Got "explode", expected one of warn, skip, deny.',
  ]);
});

test("the reader of the cluster configuration never throws", () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      expect(["warn", "skip", "deny"]).toContain(readClusterConfig(value).config.onInvalid);
    }),
  );
});
