import { defineService } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import { defaultReceiverPort, devConfigOf, systemPorts } from './dev-config.ts';

test('the ports are those of the service', () => {
  expect(systemPorts(testService, devConfigOf(testService).parse({}))).toMatchObject({
    ports: { 'customer-api': 4004, 'supplier-api': 4005 },
    adminPorts: { 'customer-api': 4104, 'supplier-api': 4105, 'webhook-worker': 4003 },
  });
});

test('variables name other ports', () => {
  const config = devConfigOf(testService).parse({ CUSTOMER_API_PORT: '0', SUPPLIER_API_ADMIN_PORT: '5000' });
  expect(systemPorts(testService, config)).toMatchObject({
    ports: { 'customer-api': 0 },
    adminPorts: { 'supplier-api': 5000 },
  });
});

test('the receiver has a port that no interface has', () => {
  const { names } = testService;
  const ofPort = (port: number) =>
    defineService({ names, interfaces: { customer: { title: 'Customer', account: 'Customer', port } } });
  expect([testService, ofPort(4001), ofPort(4004)].map(defaultReceiverPort)).toEqual([4006, 4004, 4005]);
});
