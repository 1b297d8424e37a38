import { TooManyStepsError } from '../input-error.ts';
import type { Schema } from './schema-index.ts';

/**
 * How many keywords of one side a comparison may read, which takes seconds. They are counted, so that the result does not
 * depend on the machine. AsyncAPI 2.5 and 2.6, which are among the most complex schemas that people write, take a third.
 */
const maxSteps = 2_000_000;
const stepsPerMs = 400;

/** The steps that are left for several comparisons together. */
export interface SharedSteps {
  left: number;
}

/** Ends a comparison that would take too long, because combinations of schemas grow exponentially with their nesting. */
export class Budget {
  /** The place that is compared. */
  path = '$';
  readonly #file: string;
  readonly #shared: SharedSteps;
  #left = maxSteps;

  constructor(file: string, shared: SharedSteps) {
    this.#file = file;
    this.#shared = shared;
  }

  /** @throws {TooManyStepsError} about a pattern that takes too long to match names. */
  failAtPattern(pattern: string): never {
    const problem = `the pattern ${JSON.stringify(pattern)} at ${this.path} takes more than a second to match the names`;
    throw new TooManyStepsError(
      this.#file,
      null,
      `${problem} there. Repeat no group in it that contains a repetition.`,
    );
  }

  /** @throws {TooManyStepsError} when patterns that take less than a second each take too long together. */
  spendTime(ms: number): void {
    if (ms >= 10) this.spend(Math.floor(ms) * stepsPerMs);
  }

  /** @throws {TooManyStepsError} when no steps are left. */
  spend(steps: number): void {
    this.#left -= steps;
    this.#shared.left -= steps;
    if (this.#left >= 0 && this.#shared.left >= 0) return;
    const problem = `the schemas at ${this.path} combine in too many ways to be compared`;
    const remedy = 'Nest and repeat fewer anyOf, oneOf, if, not and patternProperties in them.';
    const found =
      this.#left < 0 ? `more than ${maxSteps} steps` : 'more steps than are left for it and others together';
    throw new TooManyStepsError(this.#file, null, `${problem} (${found}). ${remedy}`);
  }
}

const sizes = new WeakMap<Schema, number>();

/** The steps for reading the keywords of a schema once. */
export function sizeOf(schema: Schema): number {
  const size = sizes.get(schema) ?? Object.values(schema).reduce<number>((sum, value) => sum + lengthOf(value), 1);
  sizes.set(schema, size);
  return size;
}

function lengthOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 1;
}
