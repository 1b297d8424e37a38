import type { Comparison } from './comparison.ts';
import { graphqlRules } from './rules.ts';

/** The types at which queries, mutations and subscriptions start. */
export function compareRoots({ from, to, found }: Comparison): void {
  for (const [operation, name] of from.roots) {
    const now = to.roots.get(operation);
    if (now === undefined) found(graphqlRules.rootRemoved, name, `There is no ${operation} type any more.`);
    else if (now !== name) found(graphqlRules.rootReplaced, name, `The ${operation} type is ${now}.`);
  }
  for (const [operation, name] of to.roots) {
    if (!from.roots.has(operation)) found(graphqlRules.rootAdded, name, `There is a ${operation} type.`);
  }
}
