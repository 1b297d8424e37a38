import { compareVerdicts } from '../verdict.ts';
import type { Alternatives } from './alternatives.ts';
import type { Direction } from './direction.ts';
import type { DirectedRule, Effect, jsonSchemaRules } from './rules.ts';
import type { Schema, SchemaDocument } from './schema-document.ts';
import type { AreAlike } from './written-alike.ts';

export type RuleName = keyof typeof jsonSchemaRules;

export interface JsonSchemaOptions {
  readonly direction: Direction;
  /**
   * Whether receivers may rely on knowing every value of an `enum`. For a producer, an added value is major if true and
   * minor if false. Defaults to false.
   */
  readonly closedOutputs?: boolean;
}

/** The old and the new schemas for one place in a value. The value must match all of them. */
export interface Place {
  readonly path: string;
  readonly from: readonly Schema[];
  readonly to: readonly Schema[];
  /** Whether the comparison of the surrounding schemas covers null. */
  readonly nullCompared?: boolean;
  /** Names the closest alternatives around the place. Contains an empty text if one way to the place leads through none. */
  readonly alternatives?: Set<string> | undefined;
}

/** The context of a comparison. */
export interface Comparison {
  readonly from: SchemaDocument;
  readonly to: SchemaDocument;
  readonly closedOutputs: boolean;
  readonly found: (rule: RuleName, path: string, message: string, alternatives?: ReadonlySet<string>) => void;
  /** Like `found`, for a change of `$schema`. It is reported at the first place only, since it applies to all below. */
  readonly foundDialect: (rule: RuleName, path: string, message: string) => void;
  readonly alternativesOf: (document: SchemaDocument, all: readonly Schema[]) => Alternatives;
  /** Adds a place to the work list. Circular and deep schemas would overflow the stack with recursion. */
  compareLater(place: Place): void;
  /** Whether the schemas of the two documents allow the same values. */
  readonly areSame: (from: readonly Schema[], to: readonly Schema[]) => boolean;
  /** Whether two places allow the same values, even if the surrounding schemas cover null. */
  readonly isSame: (place: Place) => boolean;
  /** Whether two schemas have the same keywords, apart from documentation and names. */
  readonly areWrittenAlike: AreAlike;
}

/** What a change means in a direction. */
export function effectOf({ producer, consumer }: DirectedRule, direction: Direction): Effect {
  if (direction !== 'both') return direction === 'producer' ? producer : consumer;
  return compareVerdicts(producer.verdict, consumer.verdict) >= 0 ? producer : consumer;
}

const plainName = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

export function propertyPath(path: string, name: string): string {
  return plainName.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}
