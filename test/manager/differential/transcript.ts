/** What one build did in one scenario, written down so that two builds can be laid side by side. Pure. */

export type Entry = {
  /** By the test's clock. */
  readonly atMs: number;
  readonly what: unknown;
};

export type Transcript = {
  /** Lines of the log in their order. */
  readonly log: readonly Entry[];
  /** Answers, exits and ends by their name. */
  readonly told: Readonly<Record<string, Entry>>;
};

export type Recorder = {
  readonly line: (line: Record<string, unknown>, atMs: number) => void;
  readonly tell: (name: string, what: unknown, atMs: number) => void;
  readonly transcript: () => Transcript;
};

/** @param address of the world, which is another one for each build */
export function createRecorder(address: string): Recorder {
  const log: Entry[] = [];
  const told: Record<string, Entry> = {};
  return {
    line: (line, atMs) => void log.push({ atMs, what: withoutChance(line, address) }),
    tell: (name, what, atMs) => {
      if (told[name] !== undefined) throw new Error(`two things are called ${name}`);
      told[name] = { atMs, what: withoutChance(what, address) };
    },
    transcript: () => ({ log, told }),
  };
}

/** The value without what differs between any two runs: addresses and chosen ports get a word. */
function withoutChance(value: unknown, address: string): unknown {
  if (typeof value === "string") return textWithoutChance(value, address);
  if (Array.isArray(value)) return value.map((one) => withoutChance(one, address));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutChance(inner, address)]));
}

const FIXED_PORTS = [8_080, 8_081, 17_890];

function textWithoutChance(text: string, address: string): string {
  return text
    .replaceAll(address, "POD")
    .replace(/(POD|127\.0\.0\.1|\bport)([: ])([0-9]{2,5})\b/g, (whole, host, mark, port) =>
      FIXED_PORTS.includes(Number(port)) ? whole : `${host}${mark}<port>`,
    );
}
