/** Records the log and responses of one build in one scenario, for the comparison of two builds. Pure. */

export type Entry = {
  /** Time on the test clock. */
  readonly atMs: number;
  readonly value: unknown;
};

export type Transcript = {
  readonly log: readonly Entry[];
  /** Responses and exits by name. */
  readonly records: Readonly<Record<string, Entry>>;
};

export type Recorder = {
  readonly recordLine: (line: Record<string, unknown>, atMs: number) => void;
  readonly record: (name: string, value: unknown, atMs: number) => void;
  readonly transcript: () => Transcript;
};

/** @param address the Pod's address, which differs between the builds */
export function createRecorder(address: string): Recorder {
  const log: Entry[] = [];
  const records: Record<string, Entry> = {};
  return {
    recordLine: (line, atMs) => void log.push({ atMs, value: normalize(line, address) }),
    record: (name, value, atMs) => {
      if (records[name] !== undefined) throw new Error(`two records have the name ${name}`);
      records[name] = { atMs, value: normalize(value, address) };
    },
    transcript: () => ({ log, records: records }),
  };
}

/** Replaces addresses and ephemeral ports, which differ between runs, by placeholders. */
function normalize(value: unknown, address: string): unknown {
  if (typeof value === "string") return normalizeText(value, address);
  if (Array.isArray(value)) return value.map((one) => normalize(one, address));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, normalize(inner, address)]));
}

const FIXED_PORTS = [8_080, 8_081, 17_890];

function normalizeText(text: string, address: string): string {
  return text
    .replaceAll(address, "POD")
    .replace(/(POD|127\.0\.0\.1|\bport)([: ])([0-9]{2,5})\b/g, (whole, host, separator, port) =>
      FIXED_PORTS.includes(Number(port)) ? whole : `${host}${separator}<port>`,
    );
}
