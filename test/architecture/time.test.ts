/** Pure code receives the time as an argument, so that a test can set any time. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOMS } from "./rooms.ts";

const SRC = join(import.meta.dirname, "../../src");
const CLOCK = /\b(?:setTimeout|setInterval|setImmediate|performance\.now|Date\.now|process\.hrtime|new Date\(\))/;

const PURE_ROOMS = Object.keys(ROOMS).filter((room) => ROOMS[room]?.io === false && !room.endsWith(".ts"));
const DECIDING_FOLDERS = [
  ...["api-server", "authority", "manager/drain", "manager/sockets", "manager/traffic"],
  ...["relay/drains", "relay/lost", "relay/server", "relay/withdrawal", "webhook/certificates"],
];

test.for([...PURE_ROOMS, ...DECIDING_FOLDERS])("no source file of %s reads a clock or sets a timer", (folder) => {
  const files = readdirSync(join(SRC, folder), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => CLOCK.test(readFileSync(join(SRC, folder, file), "utf8")))).toEqual([]);
});
