/** Reads the selectors of a PromQL expression, with the grammar that Prometheus publishes for editors. */
import { parser } from "@prometheus-io/lezer-promql";

export type Selector = {
  readonly metric: string;
  /** By label: the operator and the compared text. */
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly text: string }[];
};

export type PromqlQuery = {
  readonly selectors: readonly Selector[];
  /** Labels named by `by`, `without`, `on` and `ignoring`. */
  readonly groupings: readonly string[];
  /** Whether only the labels of `by` remain. */
  readonly aggregates: boolean;
};

type Node = ReturnType<ReturnType<typeof parser.parse>["cursor"]>["node"];

/** @throws on a syntax error, with its position */
export function readPromql(text: string): PromqlQuery {
  const found: Node[] = [];
  parser.parse(text).iterate({ enter: ({ node }) => void found.push(node) });
  const broken = found.find(({ type }) => type.isError);
  if (broken !== undefined) throw new Error(`at ${broken.from} of ${JSON.stringify(text)}: this is not PromQL`);
  const textOf = ({ from, to }: Node): string => text.slice(from, to);
  const named = (name: string): readonly Node[] => found.filter((node) => node.name === name);
  return {
    selectors: named("VectorSelector").map((node) => selectorOf(node, textOf)),
    groupings: named("GroupingLabels").flatMap((node) => node.getChildren("LabelName").map(textOf)),
    aggregates: named("AggregateExpr").length > 0,
  };
}

function selectorOf(node: Node, textOf: (node: Node) => string): Selector {
  const matchers = node.getChild("LabelMatchers")?.getChildren("UnquotedLabelMatcher") ?? [];
  const part = (matcher: Node, name: string): string => {
    const child = matcher.getChild(name);
    return child === null ? "" : textOf(child);
  };
  return {
    metric: part(node, "Identifier"),
    matchers: matchers.map((matcher) => ({
      label: part(matcher, "LabelName"),
      operator: part(matcher, "MatchOp"),
      text: part(matcher, "StringLiteral").slice(1, -1),
    })),
  };
}
