/** Parses YAML as kubectl's Go library does. */
import { Composer, type Document, Lexer, type LineCounter, Parser, type ScalarTag, type Tags } from "yaml";

export function parseTrees(text: string, lineCounter: LineCounter): readonly Document.Parsed[] | undefined {
  const composer = new Composer({
    keepSourceTokens: true,
    lineCounter,
    uniqueKeys: false,
    version: "1.1",
    logLevel: "silent",
    prettyErrors: false,
    customTags: kubectlTags,
  });
  // Replaces `Parser.parse` of the package yaml, which does not accept another lexer.
  lineCounter.addNewLine(0);
  try {
    return [...composer.compose(tokensOf(text, new Parser(lineCounter.addNewLine)))];
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}

function* tokensOf(text: string, parser: Parser): ReturnType<Parser["parse"]> {
  for (const lexeme of lenientLexer().lex(text)) yield* parser.next(lexeme);
  yield* parser.end();
}

type Step = () => Generator<string, unknown>;
type LexerInternals = { indentNext: number; parseQuotedScalar: Step; parseFlowCollection: Step };

/**
 * YAML requires lines in quotes and brackets to be indented deeper than the key; Go's library accepts every column, and
 * manifests use column 0. The package yaml has no option for this.
 */
function lenientLexer(): Lexer {
  const lexer = new Lexer();
  const internals = lexer as unknown as LexerInternals;
  internals.parseQuotedScalar = withoutIndentation(internals, internals.parseQuotedScalar);
  internals.parseFlowCollection = withoutIndentation(internals, internals.parseFlowCollection);
  return lexer;
}

function withoutIndentation(lexer: LexerInternals, step: Step): Step {
  return function* () {
    const requiredIndent = lexer.indentNext;
    lexer.indentNext = 0;
    const next = yield* step.call(lexer);
    lexer.indentNext = requiredIndent;
    return next;
  };
}

/** Go's library accepts more prefixes than YAML 1.1: `0o644`, `0O7`, `0X1F`, `0B1`. */
const GO_INTEGERS: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^[-+]?0(?:[oO][0-7_]+|X[0-9a-fA-F_]+|B[01_]+)$/,
  resolve: (text) => {
    const digits = text.replaceAll("_", "");
    return digits.startsWith("-") ? -Number(digits.slice(1)) : Number(digits.replace("+", ""));
  },
};

const TAGS_NOT_OF_KUBECTL = /(timestamp|binary|omap|pairs|set)$/;

function kubectlTags(tags: Tags): Tags {
  const isKept = (tag: Tags[number]): boolean =>
    typeof tag === "string" || !(TAGS_NOT_OF_KUBECTL.test(tag.tag) || ("format" in tag && tag.format === "TIME"));
  return [GO_INTEGERS, ...tags.filter(isKept)];
}
