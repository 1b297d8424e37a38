import { fileNotice, locatedReport, type Found, type Report } from '../change.ts';
import { compareMembers } from '../differences.ts';
import type { SourceText } from '../text-file.ts';
import { compareAppliedDirectives, compareDescriptions } from './compare-applied-directives.ts';
import { compareDirectiveDefinitions, compareTypes } from './compare-types.ts';
import type { Comparison, GraphqlOptions } from './comparison.ts';
import type { GraphqlContract } from './contract.ts';
import { exposureOf } from './exposure.ts';
import { isFederated, isInaccessible } from './federation.ts';
import { isIntrospection } from './introspection.ts';
import { neighboursIn, type Neighbours } from './neighbours.ts';
import { readGraphqlContract } from './read-contract.ts';
import { graphqlRules } from './rules.ts';

/**
 * Compares two schemas, each a complete SDL document or the result of an introspection query.
 *
 * @throws {InputError} when a schema is invalid.
 */
export function compareGraphql(from: SourceText, to: SourceText, options: GraphqlOptions = {}): Report {
  return compareGraphqlFiles([from], [to], options);
}

/**
 * Compares two schemas, each in one or several files.
 *
 * @throws {InputError} when a schema is invalid.
 */
export function compareGraphqlFiles(
  from: readonly SourceText[],
  to: readonly SourceText[],
  options: GraphqlOptions = {},
): Report {
  const introspected = [...to, ...from].find(isIntrospection);
  const partial = options.partial ?? false;
  const read = (sources: readonly SourceText[], isOld: boolean): GraphqlContract =>
    readGraphqlContract(sources, { partial, isOld, withoutDirectives: introspected !== undefined });
  const [before, after] = [read(from, true), read(to, false)];
  const exposure = exposureOf(before, partial);
  const federated = partial || isFederated(before) || isFederated(after);
  // Few comparisons need them.
  let neighbours: Neighbours | undefined;
  const compare = (found: Found): void => {
    const comparison: Comparison = {
      from: before,
      to: after,
      exposure,
      neighbours: (...field) => (neighbours ??= neighboursIn(before, exposure))(...field),
      closedOutputs: options.closedOutputs ?? false,
      directives: new Map(Object.entries(options.directives ?? {})),
      isFederated: federated,
      found(rule, coordinate, message) {
        const isHidden = federated && rule.verdict === 'major' && isInaccessible(before, coordinate);
        found(isHidden ? graphqlRules.unreachableChanged : rule, coordinate, message);
      },
    };
    compareRoots(comparison);
    compareTypes(comparison);
    compareDirectiveDefinitions(comparison);
    compareDescriptions(comparison, 'schema', before, after);
    compareAppliedDirectives(comparison, 'schema', before, after, 'both');
  };
  return locatedReport(before.locator, after.locator, compare, [
    ...before.notices,
    ...after.notices,
    ...(introspected === undefined ? [] : [fileNotice(introspected.file, withoutApplied)]),
  ]);
}

const withoutApplied =
  'An introspection result does not show applied directives such as @tag, so they are not compared.';

/** Compares the root types of queries, mutations and subscriptions. */
function compareRoots({ from, to, found }: Comparison): void {
  compareMembers(from.roots, to.roots, {
    removed: (operation, name) => found(graphqlRules.rootRemoved, name, `The ${operation} type was removed.`),
    added: (operation, name) => found(graphqlRules.rootAdded, name, `The ${operation} type was added.`),
    kept(operation, name, now) {
      if (now === name) return;
      found(graphqlRules.rootReplaced, name, `The ${operation} type changed from ${name} to ${now}.`);
    },
  });
}
