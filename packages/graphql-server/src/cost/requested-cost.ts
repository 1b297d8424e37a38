import { countIn, type ObjectCost, type PageText, type Variables } from './cost-plan.ts';
import type { MilliPoints } from './operation-costs.ts';

/** The most that a field of objects can cost. */
export function costOf(plan: ObjectCost, variables: Variables): MilliPoints {
  return countIn(plan.count, variables) * costOfOne(plan, variables);
}

/** The most that one of the objects can cost. */
export function costOfOne(plan: ObjectCost, variables: Variables): MilliPoints {
  let sum = plan.weight + plan.leavesCost - plan.neverTogether;
  for (const text of plan.pageTexts) sum += costOfPageText(text, variables);
  for (const child of plan.children) sum += costOf(child, variables);
  return sum;
}

export function costOfPageText({ weight, maximum, count }: PageText, variables: Variables): MilliPoints {
  return Math.min(maximum, weight * countIn(count, variables));
}
