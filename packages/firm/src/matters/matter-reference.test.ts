import { expect, test } from 'vitest';
import { formatMatterReference } from './matter-reference.ts';

test.each([
  [{ cell: 0, number: '42', openedAt: new Date('2026-12-31T23:59:59Z') }, 'M-2026-000042'],
  [{ cell: 0, number: '1234567', openedAt: new Date('2027-01-01T00:00:00Z') }, 'M-2027-1234567'],
  [{ cell: 5, number: '42', openedAt: new Date('2026-12-31T23:59:59Z') }, 'M5-2026-000042'],
])('includes the year, and a cell that is not 0, in the reference of a matter: %j', (matter, reference) => {
  expect(formatMatterReference(matter)).toBe(reference);
});
