import { expect, test } from 'vitest';
import { originOf, storedOrigin } from './pending-delivery.ts';

const requestId = 'b1f9b8a0-7c5e-4a52-8d1e-3f1c1a2b3c4d';
const traceParent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('without a trace, the request id alone is stored, as by releases that know no traces', () => {
  expect(storedOrigin({ requestId })).toBe(requestId);
  expect(storedOrigin({ requestId: null })).toBeNull();
  expect(originOf(requestId)).toEqual({ requestId });
  expect(originOf(null)).toEqual({ requestId: null });
});

test.each([
  { requestId, traceParent },
  { requestId: null, traceParent },
])('%o is stored and read', (origin) => {
  expect(originOf(storedOrigin(origin))).toEqual(origin);
});

test('the longest fits into the column, which has 200 bytes', () => {
  expect(storedOrigin({ requestId, traceParent })?.length).toBeLessThan(100);
});
