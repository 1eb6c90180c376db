import { expect, test } from "vitest";
import { undelivered } from "./kernel-backlog.ts";

const zeros = (count: number) => Array(count).fill("00000000").join(" ");

test("the packets that every processor still has to deliver are counted", () => {
  const table = `030c9573 ${zeros(10)} 0000000a 00000000 0000000a 00000000\n02f4394f ${zeros(10)} 00000003 00000001\n`;
  expect(undelivered(table)).toBe(13);
});

test("a kernel that does not tell has none", () => {
  expect(undelivered(`030c9573 ${zeros(9)}\n`)).toBe(0);
});

test("this host's table is read", () => {
  expect(undelivered()).toBeGreaterThanOrEqual(0);
});
