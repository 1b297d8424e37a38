import type { Change } from '../change.ts';
import { largerVerdict } from '../verdict.ts';
import type { Direction } from './direction.ts';
import type { DirectedRule, jsonSchemaRules } from './rules.ts';
import type { Schema, SchemaDocument } from './schema-document.ts';

export type RuleName = keyof typeof jsonSchemaRules;

export interface JsonSchemaOptions {
  readonly direction: Direction;
  /**
   * Whether receivers may rely on knowing every value of an `enum` that they are sent. False, the default: a producer's
   * enums are open, and growth is minor. True: it is major.
   */
  readonly closedOutputs?: boolean;
}

/** Two schemas, each a conjunction, for the same place in a value. */
export interface Place {
  readonly path: string;
  readonly from: readonly Schema[];
  readonly to: readonly Schema[];
  /** Whether null is judged elsewhere: by the schemas around these. */
  readonly nullJudged: boolean;
}

/** What every part of a comparison needs. */
export interface Comparison {
  readonly from: SchemaDocument;
  readonly to: SchemaDocument;
  readonly closedOutputs: boolean;
  readonly found: (rule: RuleName, path: string, message: string) => void;
  /** To be compared later: a list of what is still to do, not recursion, because schemas are circular and deep. */
  compareLater(place: Place): void;
  /** Whether schemas of the two documents allow the same values. */
  areSame(from: readonly Schema[], to: readonly Schema[]): boolean;
}

export function changeInDirection(rule: DirectedRule, direction: Direction, path: string, message: string): Change {
  const { producer, consumer } = rule;
  const larger = largerVerdict(producer.verdict, consumer.verdict) === producer.verdict ? producer : consumer;
  const judgement = direction === 'both' ? larger : rule[direction];
  return { verdict: judgement.verdict, coordinate: path, message, why: judgement.why };
}

const plainName = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

export function propertyPath(path: string, name: string): string {
  return plainName.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}
