/** Where our reader and kubectl's differ and stay so, each with its reason. Everything else must be the same. */
export type Difference = {
  readonly who: "only kubectl takes it" | "only we take it" | "the value differs";
  /** Of the side that refuses; of the text where both take it. */
  readonly looksLike: RegExp;
  readonly reason: string;
};

export const DIFFERENCES: readonly Difference[] = [
  {
    who: "only kubectl takes it",
    looksLike:
      /Unexpected (scalar at node end|\S+ token in YAML stream|scalar token|flow-\S+ token)|Document contains trailing|end of the document/,
    reason: "kubectl stops after the first value and drops what follows without a word; we refuse the document",
  },
  {
    who: "only kubectl takes it",
    looksLike: /Block collections are not allowed within flow/,
    reason: "a lone - in brackets is null for kubectl alone",
  },
  {
    who: "only we take it",
    looksLike: /control characters are not allowed/,
    reason: "they are kept as they are; kubectl says it of the result",
  },
  {
    who: "only we take it",
    looksLike: /unknown escape character|invalid Unicode character escape code/,
    reason: "kubectl reads a file that begins with a brace as JSON, which has these escapes",
  },
  {
    who: "only we take it",
    looksLike: /unknown directive name|cannot start any token|did not find expected/,
    reason:
      "slips in indentation, commas and directives that leave no doubt about the value; kubectl says it of the result",
  },
  {
    who: "the value differs",
    looksLike: /[\u0085\u2028\u2029]/,
    reason: "three rare characters end a line in YAML 1.1 and are text for us",
  },
  {
    who: "the value differs",
    looksLike: /[|>][-+0-9]*[^\n]*\n[\s\S]*[^\n]$/,
    reason: "a block text that ends the file without a line break has one for us and none for kubectl",
  },
  {
    who: "the value differs",
    looksLike: /\S:[,\]}]/,
    reason: "a colon right before a comma or a closing bracket ends a key for us, and is a part of it for kubectl",
  },
];
