/** Reads the relative links and the anchors of a Markdown page, by GitHub's rules. Pure. */

export type Link = { readonly text: string; readonly path: string; readonly anchor: string };

const FENCE = /^(`{3,}|~{3,}).*?^\1`*\s*$/gms;
const CODE_SPAN = /`[^`\n]*`/g;
const LINK = /!?\[[^\]]*\]\(\s*<?([^()\s<>]+(?:\([^()\s]*\))?)>?(?:\s+"[^"]*")?\s*\)/g;
const REFERENCE = /^\[[^\]]+\]:\s+(\S+)/gm;
const WITH_SCHEME = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i;

/** Skips links to other sites, which a test cannot check. */
export function relativeLinks(page: string): readonly Link[] {
  const prose = page.replace(FENCE, "").replace(CODE_SPAN, "code");
  const targets = [LINK, REFERENCE].flatMap((pattern) => [...prose.matchAll(pattern)].map((found) => found[1] ?? ""));
  return targets
    .filter((text) => !WITH_SCHEME.test(text))
    .map((text) => {
      const [path = "", anchor = ""] = text.split("#");
      return { text, path: decodeURIComponent(path), anchor };
    });
}

/** A repeated heading gets `-1`, `-2` and so on. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const headingCounts = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ""] of page.replace(FENCE, "").matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const slug = slugOf(heading);
    const times = headingCounts.get(slug) ?? 0;
    headingCounts.set(slug, times + 1);
    anchors.add(times === 0 ? slug : `${slug}-${times}`);
  }
  return anchors;
}

function slugOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, "")
    .replaceAll(" ", "-");
}
