import { expect, test } from 'vitest';
import { nearestName } from './webhook-event-types.ts';

const names = ['order.placed', 'order.shipped', 'line_item.added', 'webhook.test'];

test.each([
  ['order.ship', 'order.shipped'],
  ['order_placed', 'order.placed'],
  ['ORDER.PLACED', 'order.placed'],
  ['odrer.placed', 'order.placed'],
  ['lineItemAdded', 'line_item.added'],
  ['test', null],
  ['supplier.opened', null],
  ['', null],
])('suggests for %s: %s', (wanted, name) => {
  expect(nearestName(wanted, names)).toBe(name);
});
