/** Renders the HTML frame and the elements that pages share. Pure. */
import { escaped } from "../safe-text.ts";

/** Content-Security-Policy: forbids everything but inline styles. */
export const PAGE_CSP =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE = `
:root{color-scheme:light dark}
body{font:14px/1.45 sans-serif;margin:1.5rem auto;max-width:72rem;padding:0 1rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #8884}
h1,p,td{overflow-wrap:anywhere}
td.number,th.number{text-align:right;white-space:nowrap}
td.when{white-space:nowrap}
td.name{min-width:10rem}
svg{max-width:100%;height:auto}
.fault{color:light-dark(#b02525,#ff8787)}
@media (max-width:48rem){
thead{display:none}
tr,td{display:block}
tr{padding:.5rem 0;border-bottom:1px solid #8884}
td,td.number{text-align:left;white-space:normal;padding:0;border:0}
td::before{content:attr(data-column) ": ";opacity:.7}
}
`;

export function pageFrame(title: string, contents: readonly string[]): string {
  return [
    "<!doctype html>",
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escaped(title)}</title><style>${STYLE}</style></head>`,
    "<body>",
    ...contents,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

export function heading(content: string): string {
  return `<h1>${escaped(content)}</h1>`;
}

export function paragraph(content: string): string {
  return `<p>${escaped(content)}</p>`;
}

/** @param address relative, since proxies serve the page below other paths */
export function link(address: string, content: string): string {
  return `<a href="${escaped(address)}">${escaped(content)}</a>`;
}

export type Cell = { readonly markup: string; readonly kind: string };

/** On narrow screens each row becomes a list, labelled by `data-column`. */
export function table(names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const head = names.map((name) => `<th scope="col">${escaped(name)}</th>`);
  const inRow = ({ markup, kind }: Cell, at: number): string => {
    const style = kind === "" ? "" : ` class="${kind}"`;
    return `<td${style} data-column="${escaped(names[at] ?? "")}">${markup}</td>`;
  };
  return [
    "<table>",
    `<thead><tr>${head.join("")}</tr></thead>`,
    `<tbody>${rows.map((cells) => `<tr>${cells.map(inRow).join("")}</tr>`).join("\n")}</tbody>`,
    "</table>",
  ].join("\n");
}

/** @param kind CSS class, not escaped: never pass input */
export function cell(markup: string, kind = ""): Cell {
  return { markup, kind };
}
