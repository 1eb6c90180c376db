import { expect, test } from "vitest";
import { dumpRequest } from "../../src/manager/sockets/netlink-exchange.ts";

test("the request for a netlink dump selects TCP sockets with tcp_info in the given states", () => {
  const bytes = dumpRequest({ family: 10, states: 0xfff, exceptPort: 17_890 }, 1);
  expect([bytes.length, bytes[16], bytes[17], bytes[18], bytes.readUInt32LE(20)]).toEqual([88, 10, 6, 2, 0xfff]);
});
