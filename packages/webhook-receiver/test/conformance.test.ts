import { describe } from 'vitest';
import { adapters } from './support/adapters.ts';
import { testConformance } from './support/conformance-suite.ts';

describe.each(adapters)('$name', (adapter) => {
  testConformance(adapter);
});
