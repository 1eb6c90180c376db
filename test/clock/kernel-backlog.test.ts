import { expect, test } from "vitest";
import { countUndeliveredPackets } from "./kernel-backlog.ts";

const zeros = (count: number) => Array(count).fill("00000000").join(" ");

test("the number of undelivered packets is the sum over all processors", () => {
  const table = `030c9573 ${zeros(10)} 0000000a 00000000 0000000a 00000000\n02f4394f ${zeros(10)} 00000003 00000001\n`;
  expect(countUndeliveredPackets(table)).toBe(13);
});

test("the number of undelivered packets is 0 if the kernel does not report it", () => {
  expect(countUndeliveredPackets(`030c9573 ${zeros(9)}\n`)).toBe(0);
});

test("the number of undelivered packets is read from this host", () => {
  expect(countUndeliveredPackets()).toBeGreaterThanOrEqual(0);
});
