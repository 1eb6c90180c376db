/** Lists the element names of markup. @throws if the markup is not well formed */
const VOID_ELEMENTS = new Set(["meta", "!doctype"]);

export function listElements(markup: string): readonly string[] {
  const names: string[] = [];
  const openElements: string[] = [];
  let remaining = markup;
  for (let index = remaining.indexOf("<"); index >= 0; index = remaining.indexOf("<")) {
    const tag = /^<(\/?)([a-z!][a-z0-9]*)((?: [-a-zA-Z0-9:]+(?:="[^"<>]*")?)*)(\/?)>/.exec(remaining.slice(index));
    if (tag === null) throw new Error(`no tag: ${remaining.slice(index, index + 60)}`);
    const [text, closing, name = "", , selfClosing] = tag;
    if (closing === "/") {
      const last = openElements.pop();
      if (last !== name) throw new Error(`<${last}> is closed by </${name}>`);
    } else {
      names.push(name);
      if (selfClosing === "" && !VOID_ELEMENTS.has(name)) openElements.push(name);
    }
    remaining = remaining.slice(index + text.length);
  }
  if (openElements.length > 0) throw new Error(`never closed: ${openElements.join(", ")}`);
  return names;
}
