/** Tokens to syntax trees, with the indentation that kubectl's reader takes inside quotes and brackets: any. */
import {
  Composer,
  type Document,
  type DocumentOptions,
  Lexer,
  type LineCounter,
  type ParseOptions,
  Parser,
  type SchemaOptions,
} from "yaml";

/** YAML wants continuation lines deeper than the key; Go's reader takes them at every column, and people write them at 0. */
export function parseTrees(
  text: string,
  lines: LineCounter,
  options: ParseOptions & DocumentOptions & SchemaOptions,
): readonly Document.Parsed[] {
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer(options);
  // As the parser's own loop does, which takes no other lexer.
  lines.addNewLine(0);
  return [...composer.compose(tokensOf(text, parser))];
}

function* tokensOf(text: string, parser: Parser): ReturnType<Parser["parse"]> {
  for (const lexeme of lenientLexer().lex(text)) yield* parser.next(lexeme);
  yield* parser.end();
}

/** The library has no setting for this: its lexer forgets the indentation it wants while it is inside. */
type Insides = { indentNext: number; parseQuotedScalar: Step; parseFlowCollection: Step };
type Step = () => Generator<string, unknown>;

function lenientLexer(): Lexer {
  const lexer = new Lexer();
  const insides = lexer as unknown as Insides;
  insides.parseQuotedScalar = anywhere(insides, insides.parseQuotedScalar);
  insides.parseFlowCollection = anywhere(insides, insides.parseFlowCollection);
  return lexer;
}

function anywhere(lexer: Insides, step: Step): Step {
  return function* () {
    const wanted = lexer.indentNext;
    lexer.indentNext = 0;
    const next = yield* step.call(lexer);
    lexer.indentNext = wanted;
    return next;
  };
}
