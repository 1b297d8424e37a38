import { expect, test } from 'vitest';
import { referralCodec } from './create-referral.ts';
import type { Referral } from './referrals.ts';

const referral: Referral = {
  id: 'gid://service/Referral/1',
  status: 'CONVERTED',
  clientName: '2026-11-20T08:00:00.000Z',
  clientEmail: null,
  externalReference: 'CRM-7',
  note: null,
  createdAt: new Date('2026-11-20T08:00:00.123Z'),
  closedAt: new Date('2026-11-21T08:00:00.000Z'),
  matter: {
    id: 'gid://service/Matter/2',
    reference: 'M-2026-000002',
    openedAt: new Date('2026-11-21T08:00:00.000Z'),
  },
};

const stored =
  '{"id":"gid://service/Referral/1","status":"CONVERTED","clientName":"2026-11-20T08:00:00.000Z","clientEmail":null,' +
  '"externalReference":"CRM-7","note":null,"createdAt":"2026-11-20T08:00:00.123Z","closedAt":"2026-11-21T08:00:00.000Z",' +
  '"matter":{"id":"gid://service/Matter/2","reference":"M-2026-000002","openedAt":"2026-11-21T08:00:00.000Z"}}';

test('writes and reads the stored JSON, whose format is pinned', () => {
  expect(JSON.stringify(referralCodec.encode(referral))).toBe(stored);
  expect(referralCodec.decode(JSON.parse(stored))).toEqual(referral);
});

test('rejects JSON of another form', () => {
  expect(() => referralCodec.parse({ ...JSON.parse(stored), createdAt: 'yesterday' })).toThrow('createdAt');
});
