import { expect, test } from 'vitest';
import { testService } from '../test/test-service.ts';
import { interfaceOf } from './interfaces.ts';

test.each(['vendor', 'toString', 'constructor', '__proto__'])('a service has no interface %s', (name) => {
  expect(() => interfaceOf(testService, name)).toThrow(`The service has no interface "${name}".`);
});
