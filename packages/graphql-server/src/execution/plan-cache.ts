import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { collectedOperation, conditionVariables } from './collect-fields.ts';
import { CannotPlanError, type OperationPlan, planOperation } from './operation-plan.ts';

/** A plan pays off after this many runs. */
const runsBeforePlan = 2;
/** A plan of this size takes about 5 ms to make. */
const maxFields = 1000;
/**
 * The maximum number of plans of one operation. With more combinations of `@skip` and `@include`, it runs without a plan.
 */
const maxPlansOfOne = 8;
/** The maximum size of all plans of a schema together. */
const defaultMaxBytes = 16 * 1024 * 1024;
// Measured as the growth of the heap. A plan also keeps its document, even after that has left the cache of documents.
const bytesOfPlan = 2000;
const bytesOfField = 600;
const bytesOfCharacter = 150;

const noConditions: ReadonlyMap<string, boolean> = new Map();

/** The usage of an operation of a cached document. */
interface Usage {
  runs: number;
  /** The variables of `@skip` and `@include`. There is one plan for each combination of their values. */
  conditions: readonly string[];
  /** By the values of `conditions`. Null for a combination that has no plan. */
  plans: Map<string, Planned | null>;
}

interface Planned {
  plan: OperationPlan;
  bytes: number;
  usage: Usage;
  key: string;
}

export interface PlanCache {
  /** Returns null while the operation runs too rarely, and for operations that cannot be planned. */
  find(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Readonly<Record<string, unknown>>,
  ): OperationPlan | null;
  /** The estimated size of all plans. */
  bytes(): number;
}

/**
 * Plans the operations of cached documents when they run for the third time. The least recently used plans make room for new
 * ones.
 */
export function createPlanCache(schema: GraphQLSchema, maxBytes = defaultMaxBytes): PlanCache {
  const usages = new WeakMap<OperationDefinitionNode, Usage>();
  /** Ordered by use, the least recently used plan first. */
  const kept = new Set<Planned>();
  let latest: Planned | undefined;
  let bytes = 0;

  function usageOf(document: DocumentNode, operation: OperationDefinitionNode): Usage {
    const known = usages.get(operation);
    if (known) return known;
    const usage: Usage = { runs: 0, conditions: conditionVariables(document, operation), plans: new Map() };
    usages.set(operation, usage);
    return usage;
  }

  function make(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    conditions: ReadonlyMap<string, boolean>,
  ): OperationPlan | null {
    const collected =
      operation.operation === 'subscription' ? null : collectedOperation(schema, document, operation, conditions);
    try {
      return collected && planOperation(collected, maxFields);
    } catch (error) {
      if (error instanceof CannotPlanError) return null;
      throw error;
    }
  }

  function keep(planned: Planned): void {
    kept.add(planned);
    latest = planned;
    bytes += planned.bytes;
    for (const oldest of kept) {
      if (bytes <= maxBytes) break;
      kept.delete(oldest);
      oldest.usage.plans.delete(oldest.key);
      bytes -= oldest.bytes;
    }
  }

  return {
    find(document, operation, variables) {
      const usage = usageOf(document, operation);
      usage.runs += 1;
      if (usage.runs <= runsBeforePlan) return null;
      let conditions = noConditions;
      let key = '';
      if (usage.conditions.length > 0) {
        const values = new Map<string, boolean>();
        for (const name of usage.conditions) {
          const value = variables[name];
          if (typeof value !== 'boolean') return null;
          values.set(name, value);
        }
        conditions = values;
        key = [...values.values()].join();
      }
      const known = usage.plans.get(key);
      if (known) {
        if (known !== latest) {
          kept.delete(known); // moves it to the end
          kept.add(known);
          latest = known;
        }
        return known.plan;
      }
      if (known === null || usage.plans.size >= maxPlansOfOne) return null;
      const plan = make(document, operation, conditions);
      if (plan === null) {
        usage.plans.set(key, null);
        return null;
      }
      const ofDocument = (document.loc?.end ?? 0) * bytesOfCharacter;
      const size = bytesOfPlan + plan.fieldCount * bytesOfField + ofDocument;
      if (size > maxBytes) {
        usage.plans.set(key, null);
        return null;
      }
      const planned: Planned = { plan, bytes: size, usage, key };
      usage.plans.set(key, planned);
      keep(planned);
      return plan;
    },
    bytes: () => bytes,
  };
}
