import { defineService, type ServiceOptions } from '@deedwire/core';
import { orderPlacedContract, renderedOrderPlaced } from './order-placed.ts';
import { ownContracts } from './own-contracts.ts';

export { orderPlaced, renderedOrderPlaced } from './order-placed.ts';

const released = { version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null } as const;

/**
 * The value of the test service. It is here, so that packages that `tools/test-service` imports can use it.
 *
 * @param interfaces `customer`, and others
 */
export const testServiceWith = <const Interfaces extends ServiceOptions['interfaces']>(interfaces: Interfaces) =>
  defineService({
    names: {
      service: 'test_service',
      gidNamespace: 'service',
      apiKeyPrefix: 'dw',
      headerPrefix: 'X-Service',
      userAgent: 'Deedwire-Webhooks',
    },
    interfaces,
    contracts: [...ownContracts(Object.keys(interfaces)), orderPlacedContract],
    events: [renderedOrderPlaced],
    tables: {
      customer_order: { persons: { record: 'Order', noun: 'order', address: 'buyer_email', columns: ['note'] } },
    },
    // Only tests remove an order, and record that as an operator.
    auditActions: { 'order.place': 'lost', 'order.remove': 'delete' },
    clientActions: ['order.place'],
    migrations: new URL('../test/migrations/', import.meta.url),
  });

/**
 * The application of the platform's tests: customers place orders, and suppliers have nothing but the common half. `tools/test-service`
 * serves it.
 */
export const testService = testServiceWith({
  customer: { title: 'Customer', account: 'Customer', versions: [released] },
  supplier: {
    title: 'Supplier',
    account: 'Supplier',
    versions: [released, { ...released, version: '2027-02-01', status: 'preview' }],
  },
});

export type InterfaceName = keyof typeof testService.interfaces;

export const interfaceNames = Object.keys(testService.interfaces) as [InterfaceName, ...InterfaceName[]];
