import { operationCostPoints } from '@deedwire/core';
import type { DocumentLimits, ReadingCostLimits } from '@deedwire/operation-analysis';

export interface RequestLimits extends DocumentLimits, ReadingCostLimits {
  bodyBytes: number;
  /** From the request head until the body is complete. */
  bodyMs: number;
  /** The time limit for the execution of an operation. */
  operationMs: number;
  /** The largest price assumes one byte per character, so a response with many long texts in other scripts can exceed this. */
  responseBytes: number;
}

/** These limits are published with the contract, so they are not configurable. Only tests use other values. */
export const requestLimits: RequestLimits = {
  bodyBytes: 100_000,
  bodyMs: 10_000,
  queryTokens: 2000,
  queryDepth: 10,
  queryAliases: 30,
  queryDirectives: 20,
  operationMs: 10_000,
  operationCostPoints,
  requestBodyBytesPerPoint: 500,
  queryBytesPerPoint: 100,
  rejectedQueryBytesPerPoint: 10,
  rejectedQueryMinimumPoints: 40,
  responseBytes: 1_000_000,
};
