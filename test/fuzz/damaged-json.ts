/** Damages JSON in one or two places: in its bytes, or by replacing values. */
import { mutated } from "../manager/fuzz/mutations.ts";
import type { Random } from "../manager/fuzz/seeded-random.ts";

const ODD_VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1.5, 65_536, 2 ** 31, 2 ** 53, 1e308, -1e308],
  ...["", " ", "0", "null", "__proto__", "..", "../x", "a/b", "~0", "$(HOME)", "\0", "\u001b[2J", "\n", "é", "\ud800"],
  ...["x".repeat(300), "9".repeat(40), "10.0.0.1", "::1", "fd00::1%eth0", "127.0.0.1:80"],
  ...[[], {}, [null], [[]], [{}], { "": "" }, { constructor: { prototype: {} } }, JSON.parse('{"__proto__":{"x":1}}')],
];
const ODD_KEYS = ["", "__proto__", "constructor", "length", "0", "x".repeat(300), "a/b~c", "\0"];

export function damagedJson(sample: unknown, random: Random): string {
  if (random.chance(0.4)) return mutated(Buffer.from(JSON.stringify(sample)), random).toString("utf8");
  // A copy, since the change is made in place.
  const root = { value: JSON.parse(JSON.stringify(sample)) };
  for (let times = 1 + random.below(3); times > 0; times -= 1) changeOne(root, random);
  return JSON.stringify(root.value) ?? "";
}

type Box = Record<string, unknown>;

function changeOne(root: object, random: Random): void {
  const places = placesIn(root);
  const { box, key } = random.pick(places);
  const { box: otherBox, key: otherKey } = random.pick(places);
  const way = random.below(6);
  if (way === 0 && key !== "value") delete box[key];
  else if (way === 1) set(box, random.pick(ODD_KEYS), copyOf(box[key]));
  else if (way === 2) set(box, key, copyOf(otherBox[otherKey]));
  else if (way === 3)
    set(
      box,
      key,
      Array.from({ length: random.below(40) }, () => copyOf(box[key])),
    );
  // null breaks parsers most often.
  else set(box, key, random.chance(0.2) ? null : copyOf(random.pick(ODD_VALUES)));
}

/** Defines the property as JSON.parse does, so that `__proto__` is an ordinary key. */
function set(box: Box, key: string, value: unknown): void {
  if (Array.isArray(box) && !/^[0-9]+$/.test(key)) return;
  Object.defineProperty(box, key, { value, enumerable: true, writable: true, configurable: true });
}

function copyOf(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}

/** A limit, since repeated changes could make trees grow without bound. */
const MOST_PLACES = 2_000;

function placesIn(root: object): readonly { readonly box: Box; readonly key: string }[] {
  const found: { readonly box: Box; readonly key: string }[] = [];
  const boxes: object[] = [root];
  for (let box = boxes.pop(); box !== undefined && found.length < MOST_PLACES; box = boxes.pop()) {
    for (const [key, value] of Object.entries(box)) {
      found.push({ box: box as Box, key });
      if (typeof value === "object" && value !== null) boxes.push(value);
    }
  }
  return found;
}
