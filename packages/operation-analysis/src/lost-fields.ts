import type { GraphQLError } from 'graphql';
import { costOf, costOfOne, countIn, type ObjectCost, type Variables } from './cost-plan.ts';
import type { MilliPoints } from './operation-costs.ts';

type Path = NonNullable<GraphQLError['path']>;

/**
 * What fields cost that are missing in a response because of an error in another field: the error of a field that cannot be null makes
 * its parent null, and with it everything else that resolvers have read for that parent. Nothing is known of it, so it costs the
 * most that it can. The field that has failed costs its weight.
 */
export function costOfLostFields(
  root: ObjectCost,
  data: unknown,
  errors: readonly Pick<GraphQLError, 'path'>[],
  variables: Variables,
): MilliPoints {
  const places = new Set<string>();
  let sum = 0;
  for (const { path } of errors) {
    const lost = path && findNull(root, data, path);
    if (!lost) continue;
    const place = JSON.stringify(path.slice(0, lost.depth));
    if (places.has(place)) continue;
    places.add(place);
    // What is null costs its weight in any case.
    sum += costWithoutFailed(lost.plan, path, lost.depth, variables) - lost.plan.weight;
  }
  return sum;
}

/** The value above the failed field that is null, and how much of the path leads to it. Null if it is the failed field itself. */
function findNull(root: ObjectCost, data: unknown, path: Path): { plan: ObjectCost; depth: number } | null {
  let plan = root;
  let value: unknown = data;
  for (let depth = 0; depth < path.length; depth += 1) {
    if (value === null || value === undefined) return { plan, depth };
    const key = path[depth];
    if (typeof key === 'string') {
      const child = plan.children.find(({ responseName }) => responseName === key);
      if (child === undefined) return null; // a leaf
      plan = child;
    }
    value = key === undefined ? undefined : Object(value)[key];
  }
  return null;
}

/** The most that an object or a list can cost without the field at the end of the path, which leads on from `depth`. */
function costWithoutFailed(plan: ObjectCost, path: Path, depth: number, variables: Variables): MilliPoints {
  const key = path[depth];
  if (typeof key === 'number') {
    const others = Math.max(0, countIn(plan.count, variables) - 1) * costOfOne(plan, variables);
    return others + (depth + 1 === path.length ? plan.weight : costWithoutFailed(plan, path, depth + 1, variables));
  }
  const one = costOfOne(plan, variables);
  const child = plan.children.find(({ responseName }) => responseName === key);
  if (child === undefined) return one; // a leaf
  const rest = depth + 1 === path.length ? child.weight : costWithoutFailed(child, path, depth + 1, variables);
  return one - costOf(child, variables) + rest;
}
