import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { METRICS as RELAY } from "../../src/relay/metrics.ts";
import { METRICS as WEBHOOK } from "../../src/webhook/metric-table.ts";

const SOURCE = join(import.meta.dirname, "../../src");

test.for(["webhook", "relay"])("every metric of %s has its name, help and labels from the table of metrics", (room) => {
  const files = readdirSync(join(SOURCE, room), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const constructed = files.flatMap((name) => {
    const text = readFileSync(join(SOURCE, room, name), "utf8");
    return [...text.matchAll(/new (?:Counter|Gauge|Histogram)\(\{\s*([^\s,]+)/g)].map(
      ([, first]) => `${name}: ${first}`,
    );
  });
  expect(constructed.length).toBeGreaterThan(5);
  expect(constructed.filter((each) => !/: \.\.\.(METRICS\b|metric$)/.test(each))).toEqual([]);
});

test("no two metrics of one /metrics page have the same name", () => {
  const names = [...Object.values(WEBHOOK), ...Object.values(RELAY)].map(({ name }) => name);
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
});

test.for([
  ["webhook", WEBHOOK],
  ["relay", RELAY],
] as const)("every row in the table of %s is an exported metric", ([room, table]) => {
  const text = readdirSync(join(SOURCE, room), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(SOURCE, room, name), "utf8"))
    .join("\n");
  // The key of an exported metric occurs in the table and at the metric's construction.
  const isConstructed = (key: string): boolean => text.split(new RegExp(`\\b${key}\\b`)).length > 2;
  expect(Object.keys(table).filter((key) => !isConstructed(key))).toEqual([]);
});
