/** Accepted differences between this parser and kubectl's, each with its reason. Everything else must be equal. */
export type Difference = {
  readonly who: "only kubectl takes it" | "only we take it" | "the value differs";
  /** Matches the error of the refusing side, or the text if both accept it. */
  readonly pattern: RegExp;
  readonly reason: string;
};

export const DIFFERENCES: readonly Difference[] = [
  {
    who: "only kubectl takes it",
    pattern:
      /Unexpected (scalar at node end|\S+ token in YAML stream|scalar token|flow-\S+ token)|Document contains trailing|end of the document/,
    reason: "kubectl stops after the first value and drops what follows without a word; we refuse the document",
  },
  {
    who: "only kubectl takes it",
    pattern: /Block collections are not allowed within flow/,
    reason: "a lone - in brackets is null for kubectl alone",
  },
  {
    who: "only we take it",
    pattern: /control characters are not allowed/,
    reason: "they are kept; kubectl reports them in the output",
  },
  {
    who: "only we take it",
    pattern: /unknown escape character|invalid Unicode character escape code/,
    reason: "kubectl reads a file that begins with a brace as JSON, which has these escapes",
  },
  {
    who: "only we take it",
    pattern: /unknown directive name|cannot start any token|did not find expected/,
    reason:
      "errors in indentation, commas and directives with an unambiguous value; kubectl reports them in the output",
  },
  {
    who: "the value differs",
    pattern: /[\u0085\u2028\u2029]/,
    reason: "three rare characters end a line in YAML 1.1 and are text for us",
  },
  {
    who: "the value differs",
    pattern: /[|>][-+0-9]*[^\n]*\n[\s\S]*[^\n]$/,
    reason: "a block text that ends the file without a line break has one for us and none for kubectl",
  },
  {
    who: "the value differs",
    pattern: /\S:[,\]}]/,
    reason: "a colon right before a comma or a closing bracket ends a key for us, and is a part of it for kubectl",
  },
];
