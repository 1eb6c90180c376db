/** Renders the HTML frame and the elements that pages share. Pure. */
import { escapeMarkup } from "../safe-text.ts";

/** Content-Security-Policy that allows only inline styles. */
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
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeMarkup(title)}</title><style>${STYLE}</style></head>`,
    "<body>",
    ...contents,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

export function heading(content: string): string {
  return `<h1>${escapeMarkup(content)}</h1>`;
}

export function paragraph(content: string): string {
  return `<p>${escapeMarkup(content)}</p>`;
}

/** @param address must be relative, because proxies serve the page under other paths */
export function link(address: string, content: string): string {
  return `<a href="${escapeMarkup(address)}">${escapeMarkup(content)}</a>`;
}

export type Cell = { readonly markup: string; readonly className: string };

/** On narrow screens each row becomes a list, labelled by `data-column`. */
export function table(columnNames: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const headerCells = columnNames.map((name) => `<th scope="col">${escapeMarkup(name)}</th>`);
  const renderCell = ({ markup, className }: Cell, columnIndex: number): string => {
    const classAttribute = className === "" ? "" : ` class="${className}"`;
    return `<td${classAttribute} data-column="${escapeMarkup(columnNames[columnIndex] ?? "")}">${markup}</td>`;
  };
  return [
    "<table>",
    `<thead><tr>${headerCells.join("")}</tr></thead>`,
    `<tbody>${rows.map((cells) => `<tr>${cells.map(renderCell).join("")}</tr>`).join("\n")}</tbody>`,
    "</table>",
  ].join("\n");
}

/** @param className CSS class; it is not escaped, so it must not come from input */
export function cell(markup: string, className = ""): Cell {
  return { markup, className };
}
