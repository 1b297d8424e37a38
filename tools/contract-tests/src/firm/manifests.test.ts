import { errorTable, requestLimits } from '@deedwire/graphql-server';
import { expect, test } from 'vitest';
import { interfaceContracts, served } from '../../test/firm/support/firm-contracts.ts';

test.each(served)('the manifest of $account at $date lists what the servers use', ({ account, date }) => {
  const manifest = interfaceContracts[account].manifest(date);
  // The servers send this code only for unknown paths, which are not part of an interface.
  const { NOT_FOUND: _, ...codes } = errorTable;
  const statuses = Object.entries(codes).map(([code, { status, jsonStatus }]) => [
    code,
    { status: { 'application/graphql-response+json': status, 'application/json': jsonStatus } },
  ]);
  expect(Object.fromEntries(statuses)).toEqual(manifest.errors);
  const { limits } = manifest;
  expect(requestLimits).toEqual({
    bodyBytes: limits.requestBodyBytes,
    bodyMs: limits.requestBodyDurationMs,
    queryTokens: limits.queryTokens,
    queryDepth: limits.queryDepth,
    queryAliases: limits.queryAliases,
    queryDirectives: limits.queryDirectives,
    operationMs: limits.operationDurationMs,
    operationCostPoints: limits.operationCostPoints.value,
    requestBodyBytesPerPoint: limits.requestBodyBytesPerPoint,
    queryBytesPerPoint: limits.queryBytesPerPoint,
    rejectedQueryBytesPerPoint: limits.rejectedQueryBytesPerPoint,
    rejectedQueryMinimumPoints: limits.rejectedQueryMinimumPoints,
    // Promised in the READMEs only.
    responseBytes: 1_000_000,
  });
});
