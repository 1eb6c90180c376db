/** Draws a drain as a self-contained SVG without scripts, fonts or external resources. Pure. */
import type { DrainRecord } from "./drain-record.ts";
import { type Bar, type Moment, timelineOf } from "./drain-timeline.ts";
import { OUTCOME_TEXT } from "./report-text.ts";
import { escaped } from "./safe-text.ts";
import { instantText, ticksTo } from "./time-text.ts";

// In pixels.
const WIDTH = 960;
const LABELS = 336;
const MARGIN = 12;
const ROW = 34;
const LINE = 18;
const TOP = 96;

/** In characters; longer lines would exceed the width. */
const LINE_LIMIT = 140;
const LABEL_LIMIT = 50;
const WHY_LINES = 9;

/** Class names are prefixed, since an inline SVG shares them with its page. */
const STYLE = `
.lc-ground{fill:#fff}.lc-text{fill:#1a1a1a}.lc-faint{fill:#595959}.lc-grid{stroke:#ddd}
.lc-mark{stroke:#495057}.lc-mark-text{fill:#495057}.lc-fault{stroke:#c92a2a}.lc-fault-text{fill:#c92a2a}
.lc-withdrawing{fill:#f08c00}.lc-deregistration{fill:#ae3ec9}.lc-draining{fill:#4c6ef5}.lc-holding{fill:#868e96}.lc-connection{fill:#2b8a3e}
@media (prefers-color-scheme:dark){
.lc-ground{fill:#16181c}.lc-text{fill:#ececec}.lc-faint{fill:#a8adb5}.lc-grid{stroke:#3a3f47}
.lc-mark{stroke:#ced4da}.lc-mark-text{fill:#ced4da}.lc-fault{stroke:#ff8787}.lc-fault-text{fill:#ff8787}
.lc-withdrawing{fill:#ffc078}.lc-deregistration{fill:#da77f2}.lc-draining{fill:#91a7ff}.lc-holding{fill:#adb5bd}.lc-connection{fill:#69db7c}
}
`;

export function timelineSvg(record: DrainRecord): string {
  const { endMs, bars, moments } = timelineOf(record);
  const perMs = (WIDTH - LABELS - 3 * MARGIN) / endMs;
  const x = (ms: number): number => LABELS + Math.round(Math.min(ms, endMs) * perMs);
  const bottom = TOP + bars.length * ROW;
  const lines = wrapped(record.report.why, LINE_LIMIT).slice(0, WHY_LINES);
  const height = bottom + (moments.length + lines.length) * LINE + 2 * MARGIN;
  const title = `Drain of Pod ${record.namespace}/${record.pod}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}" font-family="sans-serif" font-size="12">`,
    `<style>${STYLE}</style>`,
    `<rect class="lc-ground" width="${WIDTH}" height="${height}"/>`,
    text(MARGIN, 26, "lc-text", cut(title, 100), 'font-size="16" font-weight="bold"'),
    text(MARGIN, 46, "lc-faint", subtitleOf(record)),
    ...ticksTo(endMs).flatMap((tick) => [
      `<line class="lc-grid" x1="${x(tick.atMs)}" y1="${TOP - 12}" x2="${x(tick.atMs)}" y2="${bottom}"/>`,
      text(x(tick.atMs), TOP - 18, "lc-faint", tick.text, 'text-anchor="middle"'),
    ]),
    ...bars.flatMap((bar, at) => barParts(bar, TOP + at * ROW, x)),
    ...moments.flatMap((moment, at) => momentParts(moment, bottom, bottom + (at + 1) * LINE, x)),
    ...lines.map((line, at) => text(MARGIN, bottom + (moments.length + at + 1) * LINE + 6, "lc-text", line)),
    "</svg>",
    "",
  ].join("\n");
}

function subtitleOf({ report, ownerKind, ownerName, endedAtMs }: DrainRecord): string {
  const owner = ownerName === "" ? "" : `${ownerKind} ${ownerName}, `;
  return cut(`${owner}${instantText(endedAtMs)}: ${OUTCOME_TEXT[report.outcome]}`, LINE_LIMIT);
}

/** Phases of 0 ms have no bar; connections always have one. */
function barParts(bar: Bar, top: number, x: (ms: number) => number): readonly string[] {
  const from = x(bar.fromMs);
  const width = Math.max(3, x(bar.toMs) - from);
  const isThere = bar.toMs > bar.fromMs || bar.kind === "connection";
  const shape = `<rect class="lc-${bar.kind}" x="${from}" y="${top + 6}" width="${width}" height="${ROW - 14}" rx="2"/>`;
  return [
    // At this font size the longest IPv6 address ends before the bars.
    text(MARGIN, top + 14, "lc-text", cut(bar.label, LABEL_LIMIT), 'font-size="11"'),
    text(MARGIN, top + 27, "lc-faint", cut(bar.detail, LABEL_LIMIT), 'font-size="10"'),
    ...(isThere ? [shape] : []),
  ];
}

function momentParts(moment: Moment, bottom: number, y: number, x: (ms: number) => number): readonly string[] {
  const { atMs, label, isFault = false } = moment;
  const kind = isFault ? "lc-fault" : "lc-mark";
  const at = `${(atMs / 1_000).toFixed(2)} s`;
  return [
    `<line class="${kind}" x1="${x(atMs)}" y1="${TOP - 12}" x2="${x(atMs)}" y2="${bottom}"/>`,
    text(MARGIN, y, `${kind}-text`, `${at}: ${cut(label, LINE_LIMIT)}`),
  ];
}

function text(x: number, y: number, kind: string, content: string, more = ""): string {
  return `<text class="${kind}" x="${x}" y="${y}"${more === "" ? "" : ` ${more}`}>${escaped(content)}</text>`;
}

function cut(content: string, limit: number): string {
  return content.length > limit ? `${content.slice(0, limit - 3)}...` : content;
}

function wrapped(content: string, limit: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of content.split(" ")) {
    const whole = line === "" ? word : `${line} ${word}`;
    if (whole.length > limit && line !== "") lines.push(line);
    line = cut(whole.length > limit ? word : whole, limit);
  }
  return line === "" ? lines : [...lines, line];
}
