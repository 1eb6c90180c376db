import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { chartPolicyComment } from "../../src/generate/chart-texts.ts";
import { chartValuesSchema } from "../../src/generate/chart-values-schema.ts";
import { clusterLayer, readClusterConfig } from "../../src/policy/cluster-config.ts";
import { ANNOTATIONS, FIELDS } from "../../src/policy/fields.ts";
import { resolvePolicy } from "../../src/policy/resolve.ts";
import { LOG_LEVELS } from "../../src/webhook/settings.ts";

describe("the commented defaults in the chart's values", () => {
  const uncommentedValues = chartPolicyComment()
    .split("\n")
    .slice(1)
    .map((line) => line.replace("  # ", ""))
    // Angle brackets mark settings without a literal default.
    .filter((line) => !/: <.*>$/.test(line))
    .join("\n");

  test("change nothing if they are uncommented", () => {
    const { config, problems } = readClusterConfig(parse(uncommentedValues));
    expect(problems).toEqual([]);
    const { policy } = resolvePolicy([clusterLayer(config)], {});
    expect(policy).toEqual(resolvePolicy([], {}).policy);
    expect(Object.keys(config.defaults).length).toBeGreaterThan(8);
  });

  test("contain every annotation that the cluster configuration can set", () => {
    const clusterFields = FIELDS.filter((field) => ANNOTATIONS[field].scopes.includes("cluster"));
    for (const field of clusterFields)
      expect(chartPolicyComment()).toMatch(new RegExp(`^  #   ${ANNOTATIONS[field].name}: `, "m"));
  });

  test("have at most 120 columns", () => {
    expect(
      chartPolicyComment()
        .split("\n")
        .filter((line) => line.length > 120),
    ).toEqual([]);
  });
});

describe("the schema of the chart's values", () => {
  type SchemaNode = Readonly<Record<string, unknown>>;
  const schema = chartValuesSchema() as SchemaNode;

  function objectsIn(node: unknown): readonly SchemaNode[] {
    if (typeof node !== "object" || node === null) return [];
    const innerObjects = Object.values(node).flatMap(objectsIn);
    return "properties" in node ? [node as SchemaNode, ...innerObjects] : innerObjects;
  }

  test("rejects unknown keys at every level", () => {
    const openObjects = objectsIn(schema).filter((node) => node["additionalProperties"] !== false);
    expect(openObjects).toEqual([]);
  });

  test("has the log levels of the server", () => {
    expect(JSON.stringify(schema)).toContain(JSON.stringify({ type: "string", enum: LOG_LEVELS }));
  });
});
