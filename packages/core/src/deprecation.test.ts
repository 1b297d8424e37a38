import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { deprecationDocumentationAt, deprecationHeaders, readDeprecation } from './deprecation.ts';

const documentation = deprecationDocumentationAt('https://docs.example');

function headersOf(deprecatedOn: string | null, sunsetOn: string | null): Record<string, string> | null {
  const deprecation = readDeprecation({ deprecatedOn, sunsetOn });
  return deprecation && deprecationHeaders(deprecation, documentation);
}

test('announces both without links when there is no documentation', () => {
  const deprecation = readDeprecation({ deprecatedOn: '2026-03-01', sunsetOn: '2027-03-01' });
  expect(deprecation && deprecationHeaders(deprecation, deprecationDocumentationAt(undefined))).toEqual({
    Deprecation: '@1772323200',
    Sunset: 'Mon, 01 Mar 2027 00:00:00 GMT',
  });
});

test.each([null, '', '2026-13-01'])('announces nothing when the day of the deprecation is %j', (deprecatedOn) => {
  expect(headersOf(deprecatedOn, '2027-03-01')).toBeNull();
});

test.each(Object.values({ ...deprecationDocumentationAt(new URL('../../../docs', import.meta.url).href) }))(
  '%s links to a heading that exists',
  (url) => {
    const [page = '', anchor] = url.split('#');
    const headings = readFileSync(new URL(page), 'utf8').matchAll(/^#+ (.+)$/gm);
    expect([...headings].map(([, heading = '']) => heading.toLowerCase().replaceAll(' ', '-'))).toContain(anchor);
  },
);
