/** Parses the selectors of a PromQL expression with the grammar that Prometheus publishes for editors. */
import { parser } from "@prometheus-io/lezer-promql";

export type Selector = {
  readonly metric: string;
  /** The label, the operator and the compared text of each matcher. */
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly text: string }[];
};

export type PromqlQuery = {
  readonly selectors: readonly Selector[];
  /** Labels named by `by`, `without`, `on` and `ignoring`. */
  readonly groupingLabels: readonly string[];
  /** Whether the expression aggregates, so that its result has only the labels of `by`. */
  readonly hasAggregation: boolean;
};

type SyntaxNode = ReturnType<ReturnType<typeof parser.parse>["cursor"]>["node"];

/** @throws on a syntax error, with its position */
export function readPromql(text: string): PromqlQuery {
  const nodes: SyntaxNode[] = [];
  parser.parse(text).iterate({ enter: ({ node }) => void nodes.push(node) });
  const errorNode = nodes.find(({ type }) => type.isError);
  if (errorNode !== undefined) throw new Error(`offset ${errorNode.from} of ${JSON.stringify(text)}: invalid PromQL`);
  const textOf = ({ from, to }: SyntaxNode): string => text.slice(from, to);
  const nodesNamed = (name: string): readonly SyntaxNode[] => nodes.filter((node) => node.name === name);
  return {
    selectors: nodesNamed("VectorSelector").map((node) => selectorOf(node, textOf)),
    groupingLabels: nodesNamed("GroupingLabels").flatMap((node) => node.getChildren("LabelName").map(textOf)),
    hasAggregation: nodesNamed("AggregateExpr").length > 0,
  };
}

function selectorOf(node: SyntaxNode, textOf: (node: SyntaxNode) => string): Selector {
  const matchers = node.getChild("LabelMatchers")?.getChildren("UnquotedLabelMatcher") ?? [];
  const textOfChild = (matcher: SyntaxNode, name: string): string => {
    const child = matcher.getChild(name);
    return child === null ? "" : textOf(child);
  };
  return {
    metric: textOfChild(node, "Identifier"),
    matchers: matchers.map((matcher) => ({
      label: textOfChild(matcher, "LabelName"),
      operator: textOfChild(matcher, "MatchOp"),
      text: textOfChild(matcher, "StringLiteral").slice(1, -1),
    })),
  };
}
