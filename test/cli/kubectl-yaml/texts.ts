/** Generates YAML texts: all manifests of the tests, words such as `yes` in every position, and random changes of manifests. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";

const TESTS = join(import.meta.dirname, "../..");

const WORDS = [
  ..."yes no on Off y N TRUE True ~ Null null 0644 0o644 0O7 0x1F 0X1f 0b101 0B1 1_000 +12 -0 12e3 1.5e300 1e400".split(
    " ",
  ),
  ...".inf -.INF .nan 1. 1.50 .5 22:22 190:20:30 2001-01-01 2001-01-01T00:00:00Z 08 09.5 0777_0 1E5 -.5e-3 = @a a#c".split(
    " ",
  ),
  ...[
    "!!str 12",
    "!!int 3",
    "!!float 3",
    "!!binary aGk=",
    "!!bool yes",
    "!foo bar",
    "9007199254740993",
    "18446744073709551616",
  ],
  ...[
    "'a\nb'",
    "'a\n\n\nb'",
    '"a\nb"',
    '"a\\\nb"',
    "{\na: b}",
    "{\n a: b\n}",
    "[\na]",
    "[a, b, ]",
    "{a, b: c}",
    "{a: 1, a: 2}",
  ],
  ...["|\n    a\n     b", ">-\n    a\n    b", "|+\n    a\n", "a # c", "*x", "<<", '"\\/"', "\u0085"],
];
const KEYS = "yes no on 0644 0o7 1.50 1e3 1e6 ~ null 22:22 0x10 1_000 .inf 'yes' +1 -1 <<"
  .split(" ")
  .concat("? a", "[a]", "&k a");

export function readManifests(): readonly string[] {
  const files = ["fixtures/manifests", "golden"].flatMap((folder) =>
    readdirSync(join(TESTS, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ya?ml|json)$/.test(entry.name))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")),
  );
  return files.flatMap((text) => text.split(/^---.*\n/m)).filter((text) => text.trim() !== "" && !text.startsWith("%"));
}

export function createWordTexts(): readonly string[] {
  return [
    ...WORDS.flatMap((word) => [
      `a: ${word}\nb: 1\n`,
      `a:\n  b: ${word}\n  c: 1\n`,
      `- ${word}\n- b\n`,
      `a: [${word}]\n`,
    ]),
    ...KEYS.flatMap((key) => [`${key}: v\n`, `a: {${key}: v}\n`, `a:\n  ${key}: v\n  b: 1\n`]),
  ];
}

const INSERTED_TEXTS = [
  " ",
  "  ",
  "\n",
  ":",
  "- ",
  "#",
  "'",
  '"',
  "{",
  "}",
  "[",
  "]",
  ",",
  "|",
  ">",
  "? ",
  "yes",
  "0o7",
];

export function createChangedManifests(count: number, seed: number): readonly string[] {
  const smallManifests = readManifests().filter((text) => text.length < 3_000);
  const change = fc.record({
    at: fc.nat(),
    removedCount: fc.nat({ max: 3 }),
    inserted: fc.constantFrom("", ...INSERTED_TEXTS),
  });
  const text = fc
    .tuple(fc.constantFrom(...smallManifests), fc.array(change, { minLength: 1, maxLength: 2 }))
    .map(([original, changes]) =>
      changes.reduce((before, { at, removedCount, inserted }) => {
        const start = at % before.length;
        return before.slice(0, start) + inserted + before.slice(start + removedCount);
      }, original),
    );
  return fc.sample(text, { numRuns: count, seed });
}
