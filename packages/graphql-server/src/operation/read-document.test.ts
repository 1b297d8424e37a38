import { readingCost, rejectionCost } from '@deedwire/operation-analysis';
import { buildSchema, parse, specifiedRules, validate } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { customerSdl } from '../../test/support/customer-sdl.ts';
import { hostileDocuments } from '../../test/support/hostile-documents.ts';
import { introspectionQueries } from '../../test/support/introspection-queries.ts';
import { readDocument } from '../../test/support/read-document.ts';
import { warmUp } from '../../test/support/warm-up.ts';
import { RequestError } from '../errors/request-error.ts';
import { requestLimits } from '../request-limits.ts';
import { createDocumentSteps } from './read-document.ts';

const schema = buildSchema(customerSdl);
const steps = createDocumentSteps(schema, requestLimits);

/** Returns null for a valid document. */
function rejectionOf(query: string): RequestError | null {
  try {
    readDocument(query, steps);
    return null;
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
}

function verdictOf(rejection: RequestError | null): string {
  if (!rejection) return 'valid';
  return rejection.code === 'OPERATION_TOO_COMPLEX' ? 'refused' : 'invalid';
}

/** The verdict with the rules of graphql. Aborted where its own limit for merging fields ends the validation. */
function verdictOfGraphql(query: string): string {
  try {
    const [error] = validate(schema, parse(query), specifiedRules, { maxErrors: 1 });
    if (error?.message === 'Validation aborted.') return 'aborted';
    return error ? 'invalid' : 'valid';
  } catch {
    return 'invalid';
  }
}

test.each(Object.entries(introspectionQueries))('accepts the query of %s', (_, query) => {
  expect(rejectionOf(query)).toBeNull();
});

describe('expensive documents', () => {
  beforeAll(() => warmUp(schema, requestLimits));

  test.each(Object.entries(hostileDocuments))('takes bounded time for %s', (name, query) => {
    expect(query.length).toBeLessThan(requestLimits.bodyBytes);
    let rejection: RequestError | null = null;
    let cpuMs = Infinity;
    // This thread may collect the garbage of other files meanwhile, but not each time.
    for (let run = 0; run < 3 && cpuMs >= 200; run += 1) {
      const before = process.threadCpuUsage();
      rejection = rejectionOf(query);
      const { user, system } = process.threadCpuUsage(before);
      cpuMs = (user + system) / 1000;
    }
    const bytes = Buffer.byteLength(query);
    const points = (rejection ? rejectionCost : readingCost)(bytes, requestLimits);
    process.stdout.write(`${cpuMs.toFixed(1)} ms of CPU, ${bytes} bytes, ${points} points: ${name}\n`);
    // The budget is 20 ms. A busy machine can need many times that; this only notices quadratic time.
    expect(cpuMs).toBeLessThan(200);
    expect(rejection?.message ?? '').not.toMatch(/tokens|levels of fields|aliases|directives/);
    expect(rejection?.found.length ?? 0).toBeLessThanOrEqual(11);
    for (const { message, locations = [] } of rejection?.found ?? []) {
      expect(message.length).toBeLessThanOrEqual(501);
      expect(locations.length).toBeLessThanOrEqual(10);
    }
    const expected = verdictOfGraphql(query);
    expect(expected === 'aborted' ? ['valid', 'invalid', 'refused'] : [expected, 'refused']).toContain(
      verdictOf(rejection),
    );
  });
});

/** The messages for a document with some errors. */
function messages(count: number): string[] | undefined {
  const fields = Array.from({ length: count }, (_, i) => `zzzzzzzz${i}`).join(' ');
  return rejectionOf(`{customer{${fields}}}`)?.found.map(({ message }) => message);
}

test('reports at most 10 errors, and that there are more', () => {
  expect(messages(10)?.at(-1)).toBe('Cannot query field "zzzzzzzz9" on type "Customer".');
  expect(messages(10)).toHaveLength(10);
  expect(messages(11)).toHaveLength(11);
  expect(messages(11)?.at(-1)).toBe('The document has more than these 10 errors.');
});

test.each([
  ['an unknown field', '{\n  customer {\n    nope\n  }\n}', [{ line: 3, column: 5 }]],
  ['fields that conflict', '{customer{\r\nx:id\r\n\r\n  x:name}}', [{ line: 2, column: 1 }, { line: 4, column: 3 }]], // prettier-ignore
  ['a syntax error', '# one\n{customer{id}', [{ line: 2, column: 14 }]],
  ['a value after a block string', '{webhookSubscription(id:"""a\nb\n"""){id} \n nope}', [{ line: 4, column: 2 }]],
  ['no operation', 'fragment F on Customer{id}', [{ line: 1, column: 1 }]],
])('names the place of %s', (_, query, locations) => {
  expect(rejectionOf(query)?.found.map((found) => found.locations)).toEqual([locations]);
  const graphqlSays = ((): unknown => {
    try {
      return validate(schema, parse(query)).map((error) => error.locations);
    } catch (error) {
      return [error instanceof Error && 'locations' in error ? error.locations : null];
    }
  })();
  expect(graphqlSays).toEqual([locations]);
});

test('keeps no text of the document, in which each error would count lines', () => {
  expect(readDocument('\n\n{customer{id}}', steps).loc?.source.body).toBe('');
});
