import { describe, expect, expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type { SchemaOutput } from '../test/generated/schema-output.ts';
import type { LenderUpdated } from './generated/payloads/lender.updated/2026-11-01.ts';
import type { ReferralConverted } from './generated/payloads/referral.converted/2026-11-01.ts';
import type { WebhookEvent } from './generated/webhook-event.ts';
import type { body as lenderUpdated } from './lender.updated/2026-11-01.ts';
import { isParsedEvent, parsedEventNames, parseWebhookBody } from './parse-webhook-body.ts';

const converted = {
  id: 'gid://service/WebhookEvent/1',
  type: 'referral.converted',
  version: '2026-11-01',
  timestamp: '2026-11-03T09:30:00.123Z',
  data: {
    referralId: 'gid://service/Referral/2',
    externalReference: null,
    matterId: 'gid://service/Matter/3',
    convertedAt: '2026-11-03T09:30:00.000Z',
  },
};

test('parsedEventNames lists what isParsedEvent is true for', () => {
  const names = parsedEventNames();
  expect(names).toEqual(expect.arrayContaining(['referral.converted/2026-11-01', 'referral.converted/2027-02-01']));
  expect(
    names.map((name) => name.split('/')).filter(([type = '', version = '']) => !isParsedEvent(type, version)),
  ).toEqual([]);
});

describe('parseWebhookBody', () => {
  test('parses an event from text and from bytes', () => {
    const expected = { kind: 'event', event: converted };
    const text = JSON.stringify(converted);
    expect(parseWebhookBody(text)).toEqual(expected);
    expect(parseWebhookBody(Buffer.from(text))).toEqual(expected);
  });

  test('removes fields that the version does not define', () => {
    const grown = { ...converted, addedLater: 1, data: { ...converted.data, addedLater: {} } };
    expect(parseWebhookBody(JSON.stringify(grown))).toEqual({ kind: 'event', event: converted });
  });

  test.each([{ type: 'referral.archived' }, { version: '2031-01-01' }, { type: '__proto__' }])(
    'returns an unknown type or version as an unknown event: %o',
    (change) => {
      const unknown = { ...converted, ...change, data: { anything: [1] } };
      expect(parseWebhookBody(JSON.stringify(unknown))).toEqual({ kind: 'unknown_event', event: unknown });
    },
  );

  test('returns the token of a handshake', () => {
    expect(parseWebhookBody('{"verification_token":"t0"}')).toEqual({ kind: 'verification', verificationToken: 't0' });
    expect(parseWebhookBody('{"verification_token":"t0","data":{}}').kind).toBe('malformed');
    expect(parseWebhookBody('{"verification_token":1}').kind).toBe('malformed');
  });

  test('returns the problems of a malformed body', () => {
    const notJson = { kind: 'malformed', problems: ['body: not valid JSON in UTF-8'] };
    expect(parseWebhookBody('')).toEqual(notJson);
    expect(parseWebhookBody('{"id":')).toEqual(notJson);
    expect(parseWebhookBody(Uint8Array.of(0x22, 0xff, 0x22))).toEqual(notJson);
    expect(parseWebhookBody('null')).toMatchObject({ kind: 'malformed', problems: [expect.stringMatching(/^body: /)] });
    expect(parseWebhookBody(JSON.stringify({ ...converted, data: { ...converted.data, matterId: 3 } }))).toMatchObject({
      kind: 'malformed',
      problems: [expect.stringMatching(/^data\.matterId: /)],
    });
  });
});

test('generates the types that the schemas return', () => {
  expectTypeOf<WebhookEvent>().toEqualTypeOf<SchemaOutput>();
  expectTypeOf<LenderUpdated>().toEqualTypeOf<z.infer<typeof lenderUpdated>>();
});

test('narrows an event to one payload by type and version', () => {
  expectTypeOf<
    Extract<WebhookEvent, { type: 'referral.converted'; version: '2026-11-01' }>
  >().toEqualTypeOf<ReferralConverted>();
});
