import { compareMembers } from '../compare-members.ts';
import type { Comparison } from './comparison.ts';
import { graphqlRules } from './rules.ts';

/** Compares the root types of queries, mutations and subscriptions. */
export function compareRoots({ from, to, found }: Comparison): void {
  compareMembers(from.roots, to.roots, {
    removed: (operation, name) => found(graphqlRules.rootRemoved, name, `The ${operation} type was removed.`),
    added: (operation, name) => found(graphqlRules.rootAdded, name, `The ${operation} type was added.`),
    kept(operation, name, now) {
      if (now === name) return;
      found(graphqlRules.rootReplaced, name, `The ${operation} type changed from ${name} to ${now}.`);
    },
  });
}
