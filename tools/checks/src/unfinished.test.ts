import { expect, test } from 'vitest';
import { findInstructions, findTypesWithoutAction } from './unfinished.ts';

test('names the line and the instruction, without the end of a comment', () => {
  const text = '// One.\n  // FILL IN: the fields.\n/* FILL IN: the snapshot. */\nconst fillIn = 1;\n';
  expect(findInstructions([{ path: 'a.ts', text }])).toEqual(['a.ts:2: the fields.', 'a.ts:3: the snapshot.']);
});

test('names an event type that no action appends', () => {
  const text = "/** Never `invoice.paid`. */\nawait appendEvent(transaction, lender, 'lender.updated', snapshot);";
  const sources = [{ path: 'a.ts', text }];
  expect(findTypesWithoutAction(['lender.updated', 'webhook.test'], sources)).toEqual([]);
  expect(findTypesWithoutAction(['lender.updated', 'invoice.paid'], sources)).toEqual([
    "packages/actions/src: no action appends invoice.paid. Call appendEvent(transaction, account, 'invoice.paid', snapshot) in the action that changes the record.",
  ]);
});
