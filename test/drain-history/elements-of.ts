/** Lists the element names of markup. @throws when it is not well formed */
const ALONE = new Set(["meta", "!doctype"]);

export function elementsOf(markup: string): readonly string[] {
  const names: string[] = [];
  const open: string[] = [];
  let rest = markup;
  for (let at = rest.indexOf("<"); at >= 0; at = rest.indexOf("<")) {
    const tag = /^<(\/?)([a-z!][a-z0-9]*)((?: [-a-zA-Z0-9:]+(?:="[^"<>]*")?)*)(\/?)>/.exec(rest.slice(at));
    if (tag === null) throw new Error(`no tag: ${rest.slice(at, at + 60)}`);
    const [whole, closing, name = "", , alone] = tag;
    if (closing === "/") {
      const last = open.pop();
      if (last !== name) throw new Error(`<${last}> is closed by </${name}>`);
    } else {
      names.push(name);
      if (alone === "" && !ALONE.has(name)) open.push(name);
    }
    rest = rest.slice(at + whole.length);
  }
  if (open.length > 0) throw new Error(`never closed: ${open.join(", ")}`);
  return names;
}
