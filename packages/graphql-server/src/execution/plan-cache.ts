import { conditionVariablesOf } from '@deedwire/operation-analysis';
import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { CannotPlanError, type OperationPlan, planOperation } from './operation-plan.ts';

/** A plan pays off after this many runs. */
const runsBeforePlan = 2;
/** A plan of this size takes about 5 ms to make. */
const maxFields = 1000;
/**
 * The maximum number of plans of one operation. With more combinations of `@skip` and `@include`, it runs without a plan.
 */
const maxPlansOfOne = 8;
/** The maximum size of all plans of a schema together. The plans of one operation take at most a third of it. */
const defaultMaxBytes = 16 * 1024 * 1024;
// Measured as the growth of the heap. A plan also keeps its document, even after that has left the cache of documents.
const bytesOfPlan = 2000;
const bytesOfField = 600;
const bytesOfToken = 450;
/** The maximum, which strings with escapes reach. */
const bytesOfCharacter = 6;

/** The usage of an operation of a cached document. A plugin can supply the same operation with other fragments, as another document. */
interface Usage {
  runs: number;
  /** The variables of `@skip` and `@include` in the document. There is one plan for each combination of their values. */
  conditions: readonly string[];
}

/** Of an operation, by the values of `conditions`. Null for a combination that has no plan. */
interface Plans {
  ofDocument: number;
  plans: ReadonlyMap<string, OperationPlan | null>;
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
export function createPlanCache(schema: GraphQLSchema, maxSize = defaultMaxBytes): PlanCache {
  const usages = new WeakMap<DocumentNode, Map<OperationDefinitionNode, Usage>>();
  const kept = new LRUCache<Usage, Plans>({ maxSize, sizeCalculation: sizeOf });

  function usageOf(document: DocumentNode, operation: OperationDefinitionNode): Usage {
    const ofDocument = usages.get(document) ?? new Map<OperationDefinitionNode, Usage>();
    const usage = ofDocument.get(operation) ?? { runs: 0, conditions: conditionVariablesOf(document) };
    usages.set(document, ofDocument.set(operation, usage));
    return usage;
  }

  function make(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    conditions: ReadonlyMap<string, unknown>,
  ): OperationPlan | null {
    try {
      return planOperation(schema, document, operation, { conditions, maxFields });
    } catch (error) {
      if (error instanceof CannotPlanError) return null;
      throw error;
    }
  }

  return {
    find(document, operation, variables) {
      const usage = usageOf(document, operation);
      usage.runs += 1;
      if (usage.runs <= runsBeforePlan) return null;
      // A condition that is null is an error, which graphql reports. Variables of other operations are undefined.
      if (usage.conditions.some((name) => variables[name] === null)) return null;
      const key = usage.conditions.length === 0 ? '' : usage.conditions.map((name) => variables[name]).join();
      const plans = kept.get(usage)?.plans ?? new Map<string, OperationPlan | null>();
      const known = plans.get(key);
      if (known !== undefined || plans.size >= maxPlansOfOne) return known ?? null;
      const conditions = new Map(usage.conditions.map((name) => [name, variables[name]]));
      const plan = make(document, operation, conditions);
      const ofDocument = (document.tokenCount ?? 0) * bytesOfToken + (document.loc?.end ?? 0) * bytesOfCharacter;
      kept.set(usage, { ofDocument, plans: new Map([...plans, [key, plan]]) });
      return plan;
    },
    bytes: () => kept.calculatedSize,
  };
}

function sizeOf({ ofDocument, plans }: Plans): number {
  let size = ofDocument;
  for (const plan of plans.values()) size += bytesOfPlan + (plan?.fieldCount ?? 0) * bytesOfField;
  return size;
}
