import { testEvent } from '../../../src/generated/test-event.ts';

const orderId = 'gid://service/Order/4711';
const order = { item: 'Tea «Grün» 🏡', note: null };
const placedAt = '2026-11-03T09:30:00.000Z';

const event = <const Type extends string, const Version extends string, Data>(
  type: Type,
  version: Version,
  data: Data,
) => ({ id: 'gid://service/WebhookEvent/123456', type, version, timestamp: '2026-11-03T09:30:00.123Z', data });

/** Of the event types and versions that tests send. */
export const typicalBodies = {
  'order.placed': {
    '2026-11-01': event('order.placed', '2026-11-01', { orderId, ...order, placedAt }),
    '2027-02-01': event('order.placed', '2027-02-01', { order: { id: orderId, ...order }, placedAt }),
  },
  'webhook.test': { '2026-11-01': event(testEvent.type, testEvent.version, testEvent.data) },
};
