import { readFileSync } from 'node:fs';
import { errorTable, requestLimits } from '@deedwire/graphql-server';
import { expect, test } from 'vitest';
import { partnerInterface } from '../src/partner-interface.ts';

test('every promised version is served by a schema that is equal to its SDL', () => {
  expect(partnerInterface.contract.problems).toEqual([]);
  expect(partnerInterface.contract.versions.map(({ version }) => version)).toEqual(['2026-11-01']);
});

test('error codes, their statuses and the limits are those of the manifest', () => {
  const url = import.meta.resolve('@deedwire/partner-schema/2026-11-01.manifest.json');
  const manifest = JSON.parse(readFileSync(new URL(url), 'utf8'));
  // Of every other path, so no part of the interface.
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
  });
});
