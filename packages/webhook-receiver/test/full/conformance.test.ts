import { describe, vi } from 'vitest';
import { adapters } from '../support/adapters.ts';
import { testConformance } from '../support/conformance-suite.ts';

// Most cases wait.
vi.setConfig({ maxConcurrency: 20 });

describe.concurrent.each(adapters)('$name', (adapter) => {
  testConformance(adapter);
});
