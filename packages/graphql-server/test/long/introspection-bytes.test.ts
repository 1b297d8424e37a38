import { sdl as lenderSdl } from '@deedwire/lender-schema';
import { sdl as partnerSdl } from '@deedwire/partner-schema';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { compareRandomQueries } from '../support/introspection-bytes.ts';
import { richSchema } from '../support/rich-schema.ts';

test.each([
  ['lender', buildSchema(lenderSdl('2026-11-01'))],
  ['partner', buildSchema(partnerSdl('2026-11-01'))],
  ['rich', richSchema],
])('the bound is never less than the bytes of a random query: %s', (_, schema) => {
  expect(compareRandomQueries(schema, 5_000)).toBeGreaterThan(800);
});
