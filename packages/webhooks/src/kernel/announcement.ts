import { parseRecordId } from '@deedwire/domain';
import type { AccountId, EventId } from './ids.ts';
import { type Shard, shardOf } from './shard.ts';

/** An event that was committed just now. */
export interface Announcement {
  readonly shard: Shard;
  readonly accountId: AccountId;
  readonly eventId: EventId;
}

/** The payload of the notification of an event: its account and its id. */
export function announcementOf(accountId: AccountId, eventId: EventId): string {
  return `${accountId} ${eventId}`;
}

/** Null: the payload is no announcement. */
export function readAnnouncement(payload: string): Announcement | null {
  const [account = '', event = '', ...others] = payload.split(' ');
  const accountId: AccountId | null = parseRecordId(account);
  const eventId: EventId | null = parseRecordId(event);
  if (accountId === null || eventId === null || others.length > 0) return null;
  return { shard: shardOf(accountId), accountId, eventId };
}
