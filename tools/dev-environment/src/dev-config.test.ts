import { expect, test } from 'vitest';
import { devConfig, systemPorts } from './dev-config.ts';

test('the ports are those of the pages of the apps', () => {
  expect(systemPorts(devConfig.parse({}))).toMatchObject({
    ports: { 'lender-api': 4001, 'partner-api': 4002 },
    adminPorts: { 'lender-api': 4101, 'partner-api': 4102, 'webhook-worker': 4003 },
  });
});
