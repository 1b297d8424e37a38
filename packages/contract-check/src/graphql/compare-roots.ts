import type { Comparison } from './comparison.ts';
import { graphqlRules } from './rules.ts';

/** Compares the root types of queries, mutations and subscriptions. */
export function compareRoots({ from, to, found }: Comparison): void {
  for (const [operation, name] of from.roots) {
    const now = to.roots.get(operation);
    if (now === undefined) found(graphqlRules.rootRemoved, name, `The ${operation} type was removed.`);
    else if (now !== name)
      found(graphqlRules.rootReplaced, name, `The ${operation} type changed from ${name} to ${now}.`);
  }
  for (const [operation, name] of to.roots) {
    if (!from.roots.has(operation)) found(graphqlRules.rootAdded, name, `The ${operation} type was added.`);
  }
}
