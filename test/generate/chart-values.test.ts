import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { chartPolicyComment } from "../../src/generate/chart-texts.ts";
import { chartValuesSchema } from "../../src/generate/chart-values-schema.ts";
import { clusterLayer, readClusterConfig } from "../../src/policy/cluster-config.ts";
import { ANNOTATIONS, FIELDS } from "../../src/policy/fields.ts";
import { resolvePolicy } from "../../src/policy/resolve.ts";
import { LOG_LEVELS } from "../../src/webhook/settings.ts";

describe("the defaults shown in the chart's values", () => {
  const uncommented = chartPolicyComment()
    .split("\n")
    .slice(1)
    .map((line) => line.replace("  # ", ""))
    // What has no value to show stands in angle brackets.
    .filter((line) => !/: <.*>$/.test(line))
    .join("\n");

  test("can be uncommented and change nothing", () => {
    const { config, problems } = readClusterConfig(parse(uncommented));
    expect(problems).toEqual([]);
    const { policy } = resolvePolicy([clusterLayer(config)], {});
    expect(policy).toEqual(resolvePolicy([], {}).policy);
    expect(Object.keys(config.defaults).length).toBeGreaterThan(8);
  });

  test("name every annotation that a cluster may set", () => {
    const settable = FIELDS.filter((field) => ANNOTATIONS[field].scopes.includes("cluster"));
    for (const field of settable)
      expect(chartPolicyComment()).toMatch(new RegExp(`^  #   ${ANNOTATIONS[field].name}: `, "m"));
  });

  test("stay within the width of a page", () => {
    expect(
      chartPolicyComment()
        .split("\n")
        .filter((line) => line.length > 120),
    ).toEqual([]);
  });
});

describe("the schema of the chart's values", () => {
  type Node = Readonly<Record<string, unknown>>;
  const schema = chartValuesSchema() as Node;

  function objectsIn(node: unknown): readonly Node[] {
    if (typeof node !== "object" || node === null) return [];
    const inner = Object.values(node).flatMap(objectsIn);
    return "properties" in node ? [node as Node, ...inner] : inner;
  }

  test("refuses unknown keys everywhere", () => {
    const open = objectsIn(schema).filter((node) => node["additionalProperties"] !== false);
    expect(open).toEqual([]);
  });

  test("knows the log levels of the server", () => {
    expect(JSON.stringify(schema)).toContain(JSON.stringify({ type: "string", enum: LOG_LEVELS }));
  });
});
