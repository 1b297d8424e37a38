import type { DocumentNode, GraphQLError, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import {
  costOf,
  costOfPageText,
  type CostPlan,
  countIn,
  type ObjectCost,
  type PreparedDocument,
  planCost,
  prepareDocument,
  type Variables,
} from './cost-plan.ts';
import { type Alternatives, readCostTable } from './cost-table.ts';
import { costOfLostFields } from './lost-fields.ts';
import {
  costOfLongCharacters,
  costOfText,
  defaultWeights,
  type MilliPoints,
  type OperationCosts,
  toMilliPoints,
  toPoints,
} from './operation-costs.ts';
import { OperationTooComplexError } from './operation-too-complex-error.ts';

/** The price of one execution of an operation. */
export interface OperationPrice {
  /** The largest price that the response can have, in points. */
  requestedQueryCost: number;
  /**
   * The price of what the response contains, in points, and of what its errors removed. Its `data` can be null. At most
   * `requestedQueryCost`, unless texts have characters with several bytes or errors have long paths: then at most the limit.
   */
  priceOf: (data: unknown, errors?: readonly Pick<GraphQLError, 'path'>[]) => number;
}

/** Prices the operations of one schema. */
export interface Pricing {
  /**
   * @param document valid
   * @param operation one of the document
   * @param variables before coercion
   * @throws {OperationTooComplexError} if the operation costs more than the limit
   */
  price(document: DocumentNode, operation: OperationDefinitionNode, variables: Variables): OperationPrice;
}

export interface PricingOptions {
  costs: OperationCosts;
  operationCostPoints: number;
  alternatives?: Alternatives | undefined;
}

/** The plans to keep of one operation. Operations whose fields depend on many conditions are planned on each request. */
const maxPlans = 8;

/** What an error costs in any case pays for a path of this length. */
const maxFreePathCharacters = 100;

export function createPricing(
  schema: GraphQLSchema,
  { costs, operationCostPoints, alternatives }: PricingOptions,
): Pricing {
  const { table } = readCostTable(schema, costs, alternatives);
  // The entries live as long as the document, which is cached elsewhere.
  const documents = new WeakMap<DocumentNode, PricedDocument>();

  function planOf(document: DocumentNode, operation: OperationDefinitionNode, variables: Variables): PricedPlan {
    let prepared = documents.get(document);
    if (!prepared) documents.set(document, (prepared = { ...prepareDocument(document), plans: new Map() }));
    let plans = prepared.plans.get(operation);
    if (!plans) prepared.plans.set(operation, (plans = new Map()));
    const { planVariables } = prepared;
    const conditions =
      planVariables.length === 0 ? '' : planVariables.map((name) => valueKey(variables, name)).join(' ');
    let plan = plans.get(conditions);
    if (!plan) {
      plan = createPlan(prepared, operation, variables);
      if (plans.size >= maxPlans) plans.clear();
      plans.set(conditions, plan);
    }
    return plan;
  }

  function createPlan(
    prepared: PreparedDocument,
    operation: OperationDefinitionNode,
    variables: Variables,
  ): PricedPlan {
    const plan = planCost(schema, table, prepared, operation, variables);
    const fixedCost = plan.fieldsNotRun * toMilliPoints(defaultWeights.leaf);
    const staticCost = hasVariableCount(plan.root) ? null : costOf(plan.root, {}) + fixedCost;
    return { ...plan, fixedCost, staticCost };
  }

  return {
    price(document, operation, variables) {
      const plan = planOf(document, operation, variables);
      const sum = plan.staticCost ?? costOf(plan.root, variables) + plan.fixedCost;
      const points = toPoints(sum);
      if (points > operationCostPoints) throw tooExpensive(plan, variables, points, operationCostPoints);
      // Only the response shows what introspection costs.
      const requestedQueryCost = plan.hasIntrospection ? operationCostPoints : points;
      return {
        requestedQueryCost,
        priceOf(data, errors) {
          const longCharacters = { cost: 0 };
          const found = isRecord(data) ? actualCostOf(plan.root, data, longCharacters) : 0;
          const lost = errors === undefined ? 0 : costOfLostFields(plan.root, data, errors, variables);
          if (lost > 0 && plan.hasIntrospection) return requestedQueryCost;
          for (const { path } of errors ?? []) longCharacters.cost += costOfLongPath(path);
          const assumed = Math.min(toMilliPoints(requestedQueryCost), found + lost + plan.fixedCost);
          return Math.min(operationCostPoints, toPoints(assumed + longCharacters.cost));
        },
      };
    },
  };
}

/** A plugin can supply the same operation with other fragments, as another document. */
interface PricedDocument extends PreparedDocument {
  /** By operation, and by the values on which a plan depends. */
  plans: Map<OperationDefinitionNode, Map<string, PricedPlan>>;
}

interface PricedPlan extends CostPlan {
  /** The part of the price that does not depend on the response. */
  fixedCost: MilliPoints;
  /** Null if it depends on variables. */
  staticCost: MilliPoints | null;
}

/** Distinguishes the values on which a plan depends. */
function valueKey(variables: Variables, name: string): string {
  if (!Object.hasOwn(variables, name)) return '-';
  const value = variables[name];
  return typeof value === 'boolean' ? String(value) : '?';
}

function hasVariableCount({ count, children }: ObjectCost): boolean {
  return typeof count !== 'number' || children.some(hasVariableCount);
}

/**
 * An object that is null costs the weight of its field, because the server had to look for it. Adds what long characters cost to
 * `longCharacters`.
 */
function actualCostOf(plan: ObjectCost, value: unknown, longCharacters: { cost: MilliPoints }): MilliPoints {
  if (Array.isArray(value)) {
    if ([plan.children, plan.texts, plan.ownPageTexts, plan.introspection].every(({ length }) => length === 0))
      return value.length * (plan.weight + plan.leavesCost);
    let sum = 0;
    for (const item of value) sum += actualCostOf(plan, item, longCharacters);
    return sum;
  }
  let cost = plan.weight;
  if (!isRecord(value)) return cost;
  cost += plan.leavesCost;
  for (const { responseName, weight } of plan.texts) {
    const text = value[responseName] === null ? '' : value[responseName];
    if (typeof text !== 'string') continue;
    cost -= weight - costOfText(text, weight);
    longCharacters.cost += costOfLongCharacters(text, weight);
  }
  for (const { responseName, weight } of plan.ownPageTexts) {
    const text = value[responseName] === null ? '' : value[responseName];
    if (typeof text !== 'string') continue;
    cost += costOfText(text, weight);
    longCharacters.cost += costOfLongCharacters(text, weight);
  }
  for (const child of plan.children) cost += actualCostOf(child, value[child.responseName], longCharacters);
  for (const name of plan.introspection) cost += Buffer.byteLength(JSON.stringify({ [name]: value[name] }));
  return cost;
}

/** An alias is charged once, but its characters are in the path of each error below it. A name of a schema is short. */
function costOfLongPath(path: GraphQLError['path']): MilliPoints {
  let characters = 0;
  for (const key of path ?? []) if (typeof key === 'string') characters += key.length;
  return Math.max(0, characters - maxFreePathCharacters);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function tooExpensive(plan: PricedPlan, variables: Variables, points: number, limit: number): Error {
  const most = findMostExpensive(plan, variables);
  const message =
    `The operation costs ${format(points)} points; at most ${format(limit)} are allowed. ` +
    `The most expensive field is ${most.path}, with ${format(toPoints(most.cost))} points. Request fewer items or fields.`;
  return new OperationTooComplexError(message, { requestedQueryCost: points, limit });
}

function format(points: number): string {
  return points.toLocaleString('en');
}

interface Expense {
  path: string;
  cost: MilliPoints;
}

/** The field with the most expensive values, not counting the fields below them. */
function findMostExpensive({ root }: PricedPlan, variables: Variables): Expense {
  return expensesOf(root, '', 1, variables).reduce((one, other) => (other.cost > one.cost ? other : one));
}

function expensesOf(plan: ObjectCost, path: string, parents: number, variables: Variables): Expense[] {
  const total = parents * countIn(plan.count, variables);
  const pathOf = (responseName: string): string => (path === '' ? '' : `${path}.`) + shorten(responseName);
  return [
    { path, cost: total * plan.weight },
    ...plan.leaves.map(({ responseName, weight }) => ({ path: pathOf(responseName), cost: total * weight })),
    ...plan.pageTexts.map((text) => ({
      path: pathOf(text.responseName),
      cost: total * costOfPageText(text, variables),
    })),
    ...plan.children.flatMap((child) => expensesOf(child, pathOf(child.responseName), total, variables)),
  ];
}

/** An alias can be as long as the document. */
function shorten(responseName: string): string {
  return responseName.length <= 40 ? responseName : `${responseName.slice(0, 40)}…`;
}
