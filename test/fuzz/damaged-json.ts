/** Damages JSON: mutates its bytes, or changes up to three values or keys. */
import { mutate } from "../manager/fuzz/mutations.ts";
import type { Random } from "../manager/fuzz/seeded-random.ts";

const UNUSUAL_VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1.5, 65_536, 2 ** 31, 2 ** 53, 1e308, -1e308],
  ...["", " ", "0", "null", "__proto__", "..", "../x", "a/b", "~0", "$(HOME)", "\0", "\u001b[2J", "\n", "é", "\ud800"],
  ...["x".repeat(300), "9".repeat(40), "10.0.0.1", "::1", "fd00::1%eth0", "127.0.0.1:80"],
  ...[[], {}, [null], [[]], [{}], { "": "" }, { constructor: { prototype: {} } }, JSON.parse('{"__proto__":{"x":1}}')],
];
const UNUSUAL_KEYS = ["", "__proto__", "constructor", "length", "0", "x".repeat(300), "a/b~c", "\0"];

export function damageJson(sample: unknown, random: Random): string {
  if (random.chance(0.4)) return mutate(Buffer.from(JSON.stringify(sample)), random).toString("utf8");
  // The sample is copied, because the changes are made in place.
  const root = { value: JSON.parse(JSON.stringify(sample)) };
  for (let remainingChanges = 1 + random.below(3); remainingChanges > 0; remainingChanges -= 1)
    changePlace(root, random);
  return JSON.stringify(root.value) ?? "";
}

type Container = Record<string, unknown>;

function changePlace(root: object, random: Random): void {
  const places = findPlaces(root);
  const { container, key } = random.pick(places);
  const { container: otherContainer, key: otherKey } = random.pick(places);
  const changeKind = random.below(6);
  if (changeKind === 0 && key !== "value") delete container[key];
  else if (changeKind === 1) setProperty(container, random.pick(UNUSUAL_KEYS), copyOf(container[key]));
  else if (changeKind === 2) setProperty(container, key, copyOf(otherContainer[otherKey]));
  else if (changeKind === 3)
    setProperty(
      container,
      key,
      Array.from({ length: random.below(40) }, () => copyOf(container[key])),
    );
  // null breaks parsers most often.
  else setProperty(container, key, random.chance(0.2) ? null : copyOf(random.pick(UNUSUAL_VALUES)));
}

/** Defines the property as JSON.parse does, so that `__proto__` is an ordinary key. */
function setProperty(container: Container, key: string, value: unknown): void {
  if (Array.isArray(container) && !/^[0-9]+$/.test(key)) return;
  Object.defineProperty(container, key, { value, enumerable: true, writable: true, configurable: true });
}

function copyOf(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}

/** Limits the traversal, because repeated changes could make trees grow without bound. */
const PLACES_LIMIT = 2_000;

function findPlaces(root: object): readonly { readonly container: Container; readonly key: string }[] {
  const places: { readonly container: Container; readonly key: string }[] = [];
  const containers: object[] = [root];
  for (
    let container = containers.pop();
    container !== undefined && places.length < PLACES_LIMIT;
    container = containers.pop()
  ) {
    for (const [key, value] of Object.entries(container)) {
      places.push({ container: container as Container, key });
      if (typeof value === "object" && value !== null) containers.push(value);
    }
  }
  return places;
}
