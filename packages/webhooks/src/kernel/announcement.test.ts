import { toRecordId } from '@deedwire/domain';
import { expect, test } from 'vitest';
import { announcementOf, readAnnouncement } from './announcement.ts';

test('an announcement has the account, its shard and the event', () => {
  const accountId = toRecordId<'Partner'>('118215307352346147');
  const eventId = toRecordId<'WebhookEvent'>('9223372036854775807');
  expect(readAnnouncement(announcementOf(accountId, eventId))).toEqual({ shard: 35, accountId, eventId });
});

test.each(['', '35', 'workers', '1 2 3', '1 ', ' 1', '0 1', '1 9223372036854775808', '1 x', '1,2'])(
  'the payload "%s" is none',
  (payload) => {
    expect(readAnnouncement(payload)).toBeNull();
  },
);
