import { expect, test } from 'vitest';
import { adviceFor } from './attempt-advice.ts';
import { shownAttemptErrors } from './shown-attempt-error.ts';

const statuses = Array.from({ length: 500 }, (_, index) => 100 + index);

test.each([200, 201, 204, 299])('gives no advice for %i', (responseStatus) => {
  expect(adviceFor({ responseStatus, error: null })).toBeNull();
});

test('gives advice of at most 250 characters for every failure', () => {
  const failures = [
    ...shownAttemptErrors.map((error) => adviceFor({ responseStatus: null, error })),
    ...statuses
      .filter((status) => status < 200 || status > 299)
      .map((responseStatus) => adviceFor({ responseStatus, error: null })),
  ];
  expect(failures.filter((advice) => advice === null || advice.length < 40 || advice.length > 250)).toEqual([]);
});

test('an error counts although a status arrived', () => {
  expect(adviceFor({ responseStatus: 200, error: 'TIMEOUT' })).toBe(
    'The complete response did not arrive within 5 seconds. Store the event, respond, and process it later.',
  );
});

test.each([
  [308, 'The callback URL redirects'],
  [404, 'The path does not exist'],
  [410, 'which pauses the subscription'],
  [418, 'The receiver rejected the request. See its log'],
  [429, '`Retry-After`'],
  [500, 'The receiver failed'],
  [599, 'The receiver failed'],
  [103, 'Only a final status of 2xx'],
])('the advice for %i names the cause: %s', (responseStatus, part) => {
  expect(adviceFor({ responseStatus, error: null })).toContain(part);
});
