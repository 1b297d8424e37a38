import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as lender from '@deedwire/lender-schema';
import { bodyCost, createPricing, readingCost, rejectionCost } from '@deedwire/operation-analysis';
import * as partner from '@deedwire/partner-schema';
import { buildSchema, parse } from 'graphql';
import { expect, test } from 'vitest';
import { selectOperation } from './operation/select-operation.ts';
import { requestLimits } from './request-limits.ts';

test.each([
  // bytes, body, document, rejected document
  [0, 1, 1, 40],
  [100, 1, 1, 40],
  [101, 1, 2, 40],
  [400, 1, 4, 40],
  [401, 1, 5, 41],
  [500, 1, 5, 50],
  [501, 2, 6, 51],
  [10_605, 22, 107, 1_000],
  [100_000, 200, 1_000, 1_000],
])('%i bytes cost %i points in a body, %i in a document and %i in a rejected document', (bytes, ...expected) => {
  expect([bodyCost, readingCost, rejectionCost].map((cost) => cost(bytes, requestLimits))).toEqual(expected);
});

const interfaces = { lender, partner };
const packages = join(import.meta.dirname, '../..');
const folders = globSync('{lender,partner}-schema/examples/*', { cwd: packages }).toSorted();

test.each(folders)('reading a request of %s costs no more than its largest response', (folder) => {
  const [name = '', , version = ''] = folder.split('/');
  const { sdl, costs } = interfaces[name === 'lender-schema' ? 'lender' : 'partner'];
  const pricing = createPricing(buildSchema(sdl(version)), { costs: costs(version), operationCostPoints: 1_000 });
  const cwd = join(packages, folder);
  const read = (file: string) => readFileSync(join(cwd, file), 'utf8');
  const responses = globSync('*.response.json', { cwd });
  expect(responses).not.toEqual([]);
  for (const file of responses) {
    const query = read(file.replace(/(\.\w+)?\.response\.json$/, '.graphql'));
    const variablesFile = file.replace('.response.', '.variables.');
    const variables = existsSync(join(cwd, variablesFile)) ? JSON.parse(read(variablesFile)) : {};
    const document = parse(query);
    const { requestedQueryCost } = pricing.price(document, selectOperation(document, null), variables);
    const body = JSON.stringify({ query, variables });
    const reading = readingCost(Buffer.byteLength(query), requestLimits);
    const most = Math.max(reading, bodyCost(Buffer.byteLength(body), requestLimits));
    expect({ file, isWithin: most <= requestedQueryCost }).toEqual({ file, isWithin: true });
  }
});
