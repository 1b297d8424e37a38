import { forFile } from '@deedwire/testing/for-file';
import { serverAudits } from 'graphql-http';
import { expect, test } from 'vitest';
import { credentials, startSampleServer } from './sample-server.ts';

const server = await forFile(startSampleServer());

test('keeps what GraphQL over HTTP demands and recommends, and all that it allows except GET', async () => {
  const audits = serverAudits({
    url: server.url,
    fetchFn: (url: string, init: RequestInit = {}) =>
      fetch(url, { ...init, headers: { ...credentials, ...Object.fromEntries(new Headers(init.headers)) } }),
  });
  const results = await Promise.all(audits.map((audit) => audit.fn()));
  expect(results.filter(({ name }) => name.startsWith('MUST')).length).toBeGreaterThanOrEqual(13);
  expect(results.length).toBeGreaterThanOrEqual(61);
  expect(results.filter(({ status }) => status !== 'ok').map(({ name }) => name)).toEqual([
    'MAY accept application/x-www-form-urlencoded formatted GET requests',
    'MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/graphql-response+json',
    'MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/json',
  ]);
});
