import { expect, test } from "vitest";
import { undelivered } from "./kernel-backlog.ts";

const zeros = (count: number) => Array(count).fill("00000000").join(" ");

test("the undelivered packets of all processors are counted", () => {
  const table = `030c9573 ${zeros(10)} 0000000a 00000000 0000000a 00000000\n02f4394f ${zeros(10)} 00000003 00000001\n`;
  expect(undelivered(table)).toBe(13);
});

test("a kernel without the column has none", () => {
  expect(undelivered(`030c9573 ${zeros(9)}\n`)).toBe(0);
});

test("the table of this host is read", () => {
  expect(undelivered()).toBeGreaterThanOrEqual(0);
});
