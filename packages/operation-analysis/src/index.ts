export { readCostTable } from './cost-table.ts';
export { checkDocument, checkTokens, type DocumentLimits } from './document-limits.ts';
export { conditionOf, conditionVariablesOf, fragmentsOf, responseNameOf, visitFields } from './document-nodes.ts';
export { checkMergeableFields } from './mergeable-fields.ts';
export { type MilliPoints, type OperationCosts, toMilliPoints, toPoints } from './operation-costs.ts';
export { createPricing, type Pricing } from './operation-price.ts';
export { OperationTooComplexError } from './operation-too-complex-error.ts';
export { bodyCost, readingCost, type ReadingCostLimits, rejectionCost } from './reading-cost.ts';
