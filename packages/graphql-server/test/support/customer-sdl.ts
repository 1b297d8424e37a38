import { readFileSync } from 'node:fs';

const readText = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

/** The SDL of an interface: of the test service's `customer`. */
export const customerSdl = readText('tools/test-service/src/customer/contract/versions/2026-11-01.graphql');
