import type { Found, Rule } from '../change.ts';
import type { Verdict } from '../verdict.ts';
import type { GraphqlContract } from './contract.ts';
import type { Exposure } from './exposure.ts';
import type { Neighbours } from './neighbours.ts';

export interface GraphqlOptions {
  /**
   * Whether clients may rely on knowing every enum value and every type of a union or interface that they receive. If
   * true, an added value or type is major. If false, it is minor. Defaults to false.
   */
  readonly closedOutputs?: boolean;
  /** The verdict for every change of an applied directive, by directive name without `@`. Unknown directives are major. */
  readonly directives?: Readonly<Record<string, Verdict>>;
  /**
   * Whether the schemas are parts of a larger one, such as subgraphs. They may extend and use types that they do not define, and
   * every type counts as reachable. Defaults to false.
   */
  readonly partial?: boolean;
}

/** The context of a comparison. */
export interface Comparison {
  readonly from: GraphqlContract;
  readonly to: GraphqlContract;
  /** Of the old schema: a change breaks only what operations could reach. */
  readonly exposure: Exposure;
  /** Of the old schema, as for operations that exist. */
  readonly neighbours: Neighbours;
  readonly closedOutputs: boolean;
  readonly directives: ReadonlyMap<string, Verdict>;
  /** Whether the directives of Apollo Federation have their meaning. */
  readonly isFederated: boolean;
  readonly found: Found;
}

/** A comparison that reports each change by another rule. */
export function withRules(comparison: Comparison, replace: (rule: Rule) => Rule): Comparison {
  return { ...comparison, found: (rule, ...change) => comparison.found(replace(rule), ...change) };
}
