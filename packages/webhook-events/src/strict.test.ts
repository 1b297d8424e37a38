import { expect, test } from 'vitest';
import { z } from 'zod';
import { strict } from './strict.ts';

test('closes objects at every depth', () => {
  const closed = strict(z.object({ a: z.object({ b: z.string() }).nullable() }), 'data');
  expect(closed.safeParse({ a: { b: '' } }).success).toBe(true);
  expect(closed.safeParse({ a: null }).success).toBe(true);
  expect(closed.safeParse({ a: null, x: 1 }).success).toBe(false);
  expect(closed.safeParse({ a: { b: '', x: 1 } }).success).toBe(false);
});

test('throws for a kind of schema that it cannot close, and names the field', () => {
  expect(() => strict(z.object({ a: z.array(z.object({})) }), 'data')).toThrow(
    'data.a: strict() does not support ZodArray.',
  );
});
