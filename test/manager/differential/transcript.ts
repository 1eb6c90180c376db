/** What one build did in one scenario, written down so that two builds can be laid side by side. Pure. */

/** Answers, exits and ends have a name; lines of the log come in their order. */
export type Transcript = {
  readonly log: readonly unknown[];
  readonly told: Readonly<Record<string, unknown>>;
  /** Moments and spans in milliseconds, by where they were found. */
  readonly times: Readonly<Record<string, number>>;
};

export type Recorder = {
  /** @param atMs here and below undefined where the time says more about starting a program than about the manager */
  readonly line: (line: Record<string, unknown>, atMs: number | undefined) => void;
  readonly tell: (name: string, what: unknown, atMs: number | undefined) => void;
  /** The clock has been set anew: what was timed by the old one is not compared. */
  readonly forgetTimes: () => void;
  readonly transcript: () => Transcript;
};

/** @param address of the world, which is another one for each build */
export function createRecorder(address: string): Recorder {
  const log: unknown[] = [];
  const told: Record<string, unknown> = {};
  let times: Record<string, number> = {};
  return {
    line: (line, atMs) => {
      const where = `log[${log.length}]`;
      if (atMs !== undefined) times[where] = atMs;
      log.push(withoutChance(line, address, where, times));
    },
    tell: (name, what, atMs) => {
      if (told[name] !== undefined) throw new Error(`two things are called ${name}`);
      if (atMs !== undefined) times[name] = atMs;
      told[name] = withoutChance(what, address, name, times);
    },
    forgetTimes: () => {
      times = {};
    },
    transcript: () => ({ log, told, times }),
  };
}

/** The value without what differs between any two runs: times go to `times`, addresses and chosen ports get a word. */
function withoutChance(value: unknown, address: string, where: string, times: Record<string, number>): unknown {
  if (typeof value === "string") return textWithoutChance(value, address, where, times);
  if (Array.isArray(value)) return value.map((one, at) => withoutChance(one, address, `${where}[${at}]`, times));
  if (typeof value !== "object" || value === null) return value;
  const clean: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const place = `${where}.${key}`;
    const timed = key.endsWith("Ms") || where.endsWith(".milliseconds");
    if (timed && typeof inner === "number") {
      times[place] = inner;
      clean[key] = "<ms>";
    } else clean[key] = withoutChance(inner, address, place, times);
  }
  return clean;
}

const FIXED_PORTS = [8_080, 8_081, 17_890];

function textWithoutChance(text: string, address: string, where: string, times: Record<string, number>): string {
  let spans = 0;
  return text
    .replaceAll(address, "POD")
    .replace(/(POD|127\.0\.0\.1|\bport)([: ])([0-9]{2,5})\b/g, (whole, host, mark, port) =>
      FIXED_PORTS.includes(Number(port)) ? whole : `${host}${mark}<port>`,
    )
    .replace(/\b([0-9]+(?:\.[0-9]+)?)(ms|s|m)\b/g, (_, number, unit) => {
      spans += 1;
      times[`${where}#${spans}`] = Number(number) * (unit === "ms" ? 1 : unit === "s" ? 1_000 : 60_000);
      return "<span>";
    });
}
