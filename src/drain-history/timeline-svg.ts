/** Draws a drain as a self-contained SVG without scripts, fonts or external resources. Pure. */
import type { DrainRecord } from "./drain-record.ts";
import { type Bar, type Moment, timelineOf } from "./drain-timeline.ts";
import { OUTCOME_TEXT } from "./report-text.ts";
import { escapeMarkup } from "./safe-text.ts";
import { instantText, ticksTo } from "./time-text.ts";

// In pixels.
const WIDTH = 960;
const LABELS_WIDTH = 336;
const MARGIN = 12;
const ROW_HEIGHT = 34;
const LINE_HEIGHT = 18;
const TOP_HEIGHT = 96;

/** In characters; longer lines would exceed the width. */
const LINE_LIMIT = 140;
const LABEL_LIMIT = 50;
const WHY_LINES_LIMIT = 9;

/** Class names are prefixed, because an inline SVG shares them with its page. */
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
  const pixelsPerMs = (WIDTH - LABELS_WIDTH - 3 * MARGIN) / endMs;
  const xOf = (ms: number): number => LABELS_WIDTH + Math.round(Math.min(ms, endMs) * pixelsPerMs);
  const bottom = TOP_HEIGHT + bars.length * ROW_HEIGHT;
  const lines = wrapText(record.report.why, LINE_LIMIT).slice(0, WHY_LINES_LIMIT);
  const height = bottom + (moments.length + lines.length) * LINE_HEIGHT + 2 * MARGIN;
  const title = `Drain of Pod ${record.namespace}/${record.pod}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeMarkup(title)}" font-family="sans-serif" font-size="12">`,
    `<style>${STYLE}</style>`,
    `<rect class="lc-ground" width="${WIDTH}" height="${height}"/>`,
    textElement(MARGIN, 26, "lc-text", truncate(title, 100), 'font-size="16" font-weight="bold"'),
    textElement(MARGIN, 46, "lc-faint", subtitleOf(record)),
    ...ticksTo(endMs).flatMap((tick) => [
      `<line class="lc-grid" x1="${xOf(tick.atMs)}" y1="${TOP_HEIGHT - 12}" x2="${xOf(tick.atMs)}" y2="${bottom}"/>`,
      textElement(xOf(tick.atMs), TOP_HEIGHT - 18, "lc-faint", tick.text, 'text-anchor="middle"'),
    ]),
    ...bars.flatMap((bar, index) => barElements(bar, TOP_HEIGHT + index * ROW_HEIGHT, xOf)),
    ...moments.flatMap((moment, index) => momentElements(moment, bottom, bottom + (index + 1) * LINE_HEIGHT, xOf)),
    ...lines.map((line, index) =>
      textElement(MARGIN, bottom + (moments.length + index + 1) * LINE_HEIGHT + 6, "lc-text", line),
    ),
    "</svg>",
    "",
  ].join("\n");
}

function subtitleOf({ report, ownerKind, ownerName, endedAtMs }: DrainRecord): string {
  const owner = ownerName === "" ? "" : `${ownerKind} ${ownerName}, `;
  return truncate(`${owner}${instantText(endedAtMs)}: ${OUTCOME_TEXT[report.outcome]}`, LINE_LIMIT);
}

/** Phases of 0 ms do not have a bar; connections always have one. */
function barElements(bar: Bar, top: number, xOf: (ms: number) => number): readonly string[] {
  const left = xOf(bar.fromMs);
  const width = Math.max(3, xOf(bar.toMs) - left);
  const isVisible = bar.toMs > bar.fromMs || bar.kind === "connection";
  const rectangle = `<rect class="lc-${bar.kind}" x="${left}" y="${top + 6}" width="${width}" height="${ROW_HEIGHT - 14}" rx="2"/>`;
  return [
    // At this font size the longest IPv6 address ends before the bars.
    textElement(MARGIN, top + 14, "lc-text", truncate(bar.label, LABEL_LIMIT), 'font-size="11"'),
    textElement(MARGIN, top + 27, "lc-faint", truncate(bar.detail, LABEL_LIMIT), 'font-size="10"'),
    ...(isVisible ? [rectangle] : []),
  ];
}

function momentElements(moment: Moment, bottom: number, y: number, xOf: (ms: number) => number): readonly string[] {
  const { atMs, label, isFault = false } = moment;
  const className = isFault ? "lc-fault" : "lc-mark";
  const timeText = `${(atMs / 1_000).toFixed(2)} s`;
  return [
    `<line class="${className}" x1="${xOf(atMs)}" y1="${TOP_HEIGHT - 12}" x2="${xOf(atMs)}" y2="${bottom}"/>`,
    textElement(MARGIN, y, `${className}-text`, `${timeText}: ${truncate(label, LINE_LIMIT)}`),
  ];
}

function textElement(x: number, y: number, className: string, content: string, attributes = ""): string {
  return `<text class="${className}" x="${x}" y="${y}"${attributes === "" ? "" : ` ${attributes}`}>${escapeMarkup(content)}</text>`;
}

function truncate(content: string, limit: number): string {
  return content.length > limit ? `${content.slice(0, limit - 3)}...` : content;
}

function wrapText(content: string, limit: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of content.split(" ")) {
    const extendedLine = line === "" ? word : `${line} ${word}`;
    if (extendedLine.length > limit && line !== "") lines.push(line);
    line = truncate(extendedLine.length > limit ? word : extendedLine, limit);
  }
  return line === "" ? lines : [...lines, line];
}
