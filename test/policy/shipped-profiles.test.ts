import { describe, expect, test } from "vitest";
import { gracePeriodSeconds } from "../../src/injection/hooks/grace.ts";
import { clusterLayer, readClusterConfig } from "../../src/policy/cluster-config.ts";
import { resolvePolicy } from "../../src/policy/resolve.ts";
import { SHIPPED_PROFILES } from "../../src/policy/shipped-profiles.ts";

const resolveProfile = (name: string, others: Readonly<Record<string, string>> = {}) => {
  const annotationEntries = Object.entries({ profile: name, ...others }).map(([key, value]) => [
    `lastcall.dev/${key}`,
    value,
  ]);
  return resolvePolicy([{ scope: "pod", name: "web-0", annotations: Object.fromEntries(annotationEntries) }], {});
};
const gracePeriodWith = (name: string, appSeconds: number) =>
  gracePeriodSeconds(appSeconds, resolveProfile(name).policy, 0);

describe.for(Object.entries(SHIPPED_PROFILES))("the shipped profile %s", ([name, { values }]) => {
  test("sets valid values, with the profile as their origin", () => {
    const { problems, origins } = resolveProfile(name);
    expect(problems).toEqual([]);
    const fromProfile = Object.values(origins).filter((place) => place === `profile ${name} (pod web-0)`);
    expect(fromProfile).toHaveLength(Object.keys(values).length);
  });

  test("can be configured as the default profile of a cluster", () => {
    const { config, problems } = readClusterConfig({ defaults: { profile: name } });
    expect(problems).toEqual([]);
    const resolution = resolvePolicy([clusterLayer(config)], config.profiles);
    expect(resolution.problems).toEqual([]);
    const fromProfile = Object.values(resolution.origins).filter(
      (place) => place === `profile ${name} (cluster cluster)`,
    );
    expect(fromProfile).toHaveLength(Object.keys(values).length);
  });

  test("is overridden by a value of the same layer", () => {
    expect(resolveProfile(name, { "drain-timeout": "77s" }).policy.drainTimeoutMs).toBe(77_000);
  });
});

test("the profile spot ends a Pod within 30 s if the app exits in 10 s", () => {
  expect(gracePeriodWith("spot", 10)).toBeLessThanOrEqual(30);
});

test("the profile long-work ends a Pod within cluster-autoscaler's limit if the app exits in 30 s", () => {
  expect(gracePeriodWith("long-work", 30)).toBeLessThan(600);
});
