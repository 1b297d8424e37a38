import { readFileSync } from 'node:fs';

const readText = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

/** The SDL of an interface: the own half of the test service's `customer`, and what every interface has. */
export const customerSdl =
  readText('tools/test-service/own/customer.graphql') +
  readText('packages/webhook-contract/editions/2026-11-01.graphql');
