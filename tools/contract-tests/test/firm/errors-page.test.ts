import { readFileSync } from 'node:fs';
import { createHarness } from '@deedwire/dev-environment/test/firm/harness';
import { postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { startInterfaces } from '../support/interface-client.ts';

const t = await forFile(createHarness());
// As in docs/errors.md.
const { urls } = await startInterfaces(t, ['lender'], { DOCUMENTATION_URL: 'https://deedwire.example/docs' });

test('docs/errors.md shows an error as the server returns it', async () => {
  const page = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8');
  const [, shown = ''] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
  const { headers, body } = await postGraphql(urls.lender, t.accounts.lender.credential, {
    query: '{ lender { nickname } }',
  });
  const requestId = headers.get('x-request-id') ?? '';
  const shownId = JSON.parse(shown).errors[0].extensions.requestId;
  expect(shownId).toHaveLength(requestId.length);
  expect(JSON.parse(JSON.stringify(body).replaceAll(requestId, shownId))).toEqual(JSON.parse(shown));
});
