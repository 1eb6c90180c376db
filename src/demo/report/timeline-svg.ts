/** Renders the timeline of a Pod's shutdown as an SVG image. Pure. */
import type { Timeline } from "./timeline.ts";

const WIDTH = 960;
const LABELS_WIDTH = 220;
const ROW_HEIGHT = 26;
const TOP_HEIGHT = 64;

export function timelineSvg(timeline: Timeline): string {
  const height = TOP_HEIGHT + timeline.lanes.length * ROW_HEIGHT + timeline.marks.length * 18 + 24;
  const pixelsPerMs = (WIDTH - LABELS_WIDTH - 20) / (timeline.endMs - timeline.startMs);
  const x = (ms: number) => LABELS_WIDTH + Math.round((ms - timeline.startMs) * pixelsPerMs);
  const parts = [textElement(12, 24, timeline.title, 'font-weight="bold" font-size="16"')];
  const bottom = TOP_HEIGHT + timeline.lanes.length * ROW_HEIGHT;
  for (let ms = 0; ms <= timeline.endMs; ms += 1_000) {
    parts.push(`<line x1="${x(ms)}" y1="${TOP_HEIGHT - 10}" x2="${x(ms)}" y2="${bottom}" stroke="#ddd"/>`);
    parts.push(textElement(x(ms), TOP_HEIGHT - 14, String(ms / 1_000), 'fill="#666" text-anchor="middle"'));
  }
  timeline.lanes.forEach((lane, index) => {
    const y = TOP_HEIGHT + index * ROW_HEIGHT;
    parts.push(textElement(12, y + 15, lane.label, ""));
    for (const span of lane.spans) {
      const width = Math.max(2, x(span.toMs) - x(span.fromMs));
      const fill = lane.label.startsWith("lastcall") ? "#2b8a3e" : "#4c6ef5";
      parts.push(
        `<rect x="${x(span.fromMs)}" y="${y + 3}" width="${width}" height="${ROW_HEIGHT - 10}" fill="${fill}"/>`,
      );
    }
  });
  timeline.marks.forEach((mark, index) => {
    const y = bottom + 20 + index * 18;
    const color = mark.label.startsWith("lastcall") ? "#2b8a3e" : "#c92a2a";
    parts.push(
      `<line x1="${x(mark.atMs)}" y1="${TOP_HEIGHT - 10}" x2="${x(mark.atMs)}" y2="${bottom}" stroke="${color}"/>`,
    );
    parts.push(textElement(12, y, `${(mark.atMs / 1_000).toFixed(2)} s  ${mark.label}`, `fill="${color}"`));
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

function textElement(x: number, y: number, content: string, style: string): string {
  return `<text x="${x}" y="${y}" ${style}>${escapeXml(content)}</text>`;
}

function escapeXml(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
