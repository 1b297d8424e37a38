import { testService } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import { names } from './names.ts';
import { service } from './service.ts';

test('the tests of the platform have the names, the interfaces and the versions that the service has', () => {
  expect(service.names).toEqual(names);
  // A repository without the law firm can add interfaces.
  expect(service.interfaces).toMatchObject(testService.interfaces);
  expect(service.events).toMatchObject(
    testService.events.map(({ type, versions }) => ({ type, versions: versions.map(({ version }) => ({ version })) })),
  );
});
