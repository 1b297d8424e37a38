import type { AuthenticatedClient } from '@deedwire/auth';
import { expect, test } from 'vitest';
import { createOperationContext, type InterfaceActionContext } from './operation-context.ts';

const client = { interfaceName: 'customer', accountId: '1', clientId: 'a' } as AuthenticatedClient;
const context = createOperationContext({} as InterfaceActionContext, {
  client,
  requestId: 'r',
  address: '::1',
  whenClosed: () => () => {},
});

test('a context has no getter, which V8 would keep with the request until the next full collection', () => {
  const descriptors = Object.entries(Object.getOwnPropertyDescriptors(context));
  expect(descriptors.filter(([, descriptor]) => !('value' in descriptor))).toEqual([]);
});

test('the loaders are created once', () => {
  expect(context.loaders()).toBe(context.loaders());
});
