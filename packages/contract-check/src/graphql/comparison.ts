import type { Change, Rule } from '../change.ts';
import { changeBy } from '../change.ts';
import type { Verdict } from '../verdict.ts';
import type { GraphqlContract } from './contract.ts';
import type { Exposure } from './exposure.ts';

export interface GraphqlOptions {
  /**
   * Whether clients may rely on knowing every value of an enum and every type of a union or interface that they are sent.
   * False, the default: outputs are open, and growth is minor. True: it is major.
   */
  readonly closedOutputs?: boolean;
  /** Directive name, without `@` → the verdict of every change of its applications. Unknown directives are major. */
  readonly directives?: Readonly<Record<string, Verdict>>;
}

/** What every part of a comparison needs. Exposure is the old schema's: only what could be reached can be broken. */
export interface Comparison {
  readonly from: GraphqlContract;
  readonly to: GraphqlContract;
  readonly exposure: Exposure;
  readonly closedOutputs: boolean;
  readonly directives: ReadonlyMap<string, Verdict>;
  readonly found: Found;
}

/** Where changes are put. */
export type Found = (rule: Rule, coordinate: string, message: string) => void;

export function collectInto(changes: Change[]): Found {
  return (rule, coordinate, message) => {
    changes.push(changeBy(rule, coordinate, message));
  };
}

/** Walks two maps: what is gone, what is new, what is in both. */
export function matchByName<T>(
  from: ReadonlyMap<string, T>,
  to: ReadonlyMap<string, T>,
  handle: { removed(item: T): void; added(item: T): void; kept(from: T, to: T): void },
): void {
  for (const [name, item] of from) {
    const counterpart = to.get(name);
    if (counterpart === undefined) handle.removed(item);
    else handle.kept(item, counterpart);
  }
  for (const [name, item] of to) if (!from.has(name)) handle.added(item);
}
