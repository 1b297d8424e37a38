import { attemptErrorClasses } from '@deedwire/webhook-sender';
import { expect, test } from 'vitest';
import { storedAttemptErrors } from './stored-attempt-error.ts';

test('lists every class of the sender, and failed rendering', () => {
  expect([...storedAttemptErrors]).toEqual([...attemptErrorClasses, 'RENDERING_FAILED'].toSorted());
});
