import { describe, expect, test } from "vitest";
import { inOrder } from "./part-order.ts";
import { partsTable } from "./parts-table.ts";

const file = (part: string, name = part) => `/home/me/lastcall/test/programs/${part}/${name}.program.ts`;

describe("the parts of a run", () => {
  test("begin with what installs, and end with what no one has given a place", () => {
    const files = [file("zeppelin"), file("envoy"), file("servers"), file("install"), file("airship")];
    expect(inOrder(files)).toEqual([
      file("install"),
      file("servers"),
      file("envoy"),
      file("airship"),
      file("zeppelin"),
    ]);
  });

  test("keep the files of one part together", () => {
    const files = [file("protocols"), file("servers", "idle"), file("servers")];
    expect(inOrder(files)).toEqual([file("servers", "idle"), file("servers"), file("protocols")]);
  });

  test("end with a table of what each came to", () => {
    const total = { passed: 2, failed: 0, skipped: 0, ms: 1_400 };
    const table = partsTable(
      [
        { ...total, part: "install" },
        { ...total, part: "servers", failed: 1, ms: 61_000 },
        { ...total, part: "servers", skipped: 3, ms: 2_000 },
      ],
      70_000,
    );
    expect(table.split("\n")).toEqual([
      "part                         passed  failed  skipped  took",
      "install                      2       0       0        1 s",
      "servers                      4       1       3        63 s",
      "all, with what lies between  6       1       3        70 s of 900 s",
    ]);
  });
});
