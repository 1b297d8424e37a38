import { readFileSync } from 'node:fs';
import { errorTable, requestLimits } from '@deedwire/graphql-server';
import { versions as lenderVersions } from '@deedwire/lender-schema';
import { versions as partnerVersions } from '@deedwire/partner-schema';
import { expect, test } from 'vitest';

const manifests = [
  ...lenderVersions.map(({ version }) => `@deedwire/lender-schema/${version}.manifest.json`),
  ...partnerVersions.map(({ version }) => `@deedwire/partner-schema/${version}.manifest.json`),
];

test.each(manifests)('%s lists the error codes, statuses and limits that the servers use', (path) => {
  const manifest = JSON.parse(readFileSync(new URL(import.meta.resolve(path)), 'utf8'));
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
