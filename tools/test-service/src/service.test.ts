import { expect, test } from 'vitest';
import { interfaceVersions } from './generated/interface-versions.ts';
import { interfaces } from './interfaces.ts';
import { names } from './names.ts';
import { service } from './service.ts';

test('the value has the names, the interfaces and the versions of which its contracts are made', () => {
  expect(service.names).toEqual(names);
  expect(Object.keys(service.interfaces)).toEqual(Object.keys(interfaces));
  expect(service.interfaces).toMatchObject(interfaces);
  const versions = Object.entries(service.interfaces).map(([name, each]) => [name, each.versions]);
  expect(Object.fromEntries(versions)).toEqual(interfaceVersions);
});
