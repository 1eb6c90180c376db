/** Accepted differences between this parser and kubectl's, each with its reason. Everything else must be equal. */
export type Difference = {
  readonly kind: "only kubectl accepts it" | "only lastcall accepts it" | "the value differs";
  /** Matches the error of the parser that rejects the text, or the text itself if both parsers accept it. */
  readonly pattern: RegExp;
  readonly reason: string;
};

export const DIFFERENCES: readonly Difference[] = [
  {
    kind: "only kubectl accepts it",
    pattern:
      /Unexpected (scalar at node end|\S+ token in YAML stream|scalar token|flow-\S+ token)|Document contains trailing|end of the document/,
    reason: "kubectl silently ignores the text after the first value; lastcall rejects the document",
  },
  {
    kind: "only kubectl accepts it",
    pattern: /Block collections are not allowed within flow/,
    reason: "only kubectl reads a single - in brackets as null",
  },
  {
    kind: "only lastcall accepts it",
    pattern: /control characters are not allowed/,
    reason: "lastcall preserves control characters; kubectl reports them when it reads the output",
  },
  {
    kind: "only lastcall accepts it",
    pattern: /unknown escape character|invalid Unicode character escape code/,
    reason: "kubectl reads a file that begins with a brace as JSON, which has these escapes",
  },
  {
    kind: "only lastcall accepts it",
    pattern: /unknown directive name|cannot start any token|did not find expected/,
    reason:
      "the value is unambiguous despite errors in indentation, commas and directives; kubectl reports them when it reads the output",
  },
  {
    kind: "the value differs",
    pattern: /[\u0085\u2028\u2029]/,
    reason: "U+0085, U+2028 and U+2029 end a line in YAML 1.1; lastcall reads them as text",
  },
  {
    kind: "the value differs",
    pattern: /[|>][-+0-9]*[^\n]*\n[\s\S]*[^\n]$/,
    reason: "lastcall ends a block scalar with a line break even if the file ends without one; kubectl does not",
  },
  {
    kind: "the value differs",
    pattern: /\S:[,\]}]/,
    reason: "a colon before a comma or a closing bracket ends the key for lastcall, and is part of the key for kubectl",
  },
];
