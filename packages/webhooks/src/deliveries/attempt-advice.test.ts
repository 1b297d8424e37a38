import { expect, test } from 'vitest';
import { adviceFor } from './attempt-advice.ts';
import { shownAttemptErrors } from './shown-attempt-error.ts';

const statuses = Array.from({ length: 500 }, (_, index) => 100 + index);

test.each([200, 201, 204, 299])('gives no advice for %i', (responseStatus) => {
  expect(adviceFor({ responseStatus, error: null, detail: null })).toBeNull();
});

test('gives advice of at most 250 characters for every failure', () => {
  const failures = [
    ...shownAttemptErrors.map((error) => adviceFor({ responseStatus: null, error, detail: null })),
    ...statuses
      .filter((status) => status < 200 || status > 299)
      .flatMap((responseStatus) =>
        [null, 'RETRY_AFTER_IGNORED'].map((detail) => adviceFor({ responseStatus, error: null, detail })),
      ),
  ];
  expect(failures.filter((advice) => advice === null || advice.length < 40 || advice.length > 250)).toEqual([]);
});

test('an error counts although a status arrived', () => {
  expect(adviceFor({ responseStatus: 200, error: 'TIMEOUT', detail: null })).toBe(
    'The complete response did not arrive within 5 seconds. Store the event, respond, and process it later.',
  );
});

test.each([
  [308, 'The callback URL redirects'],
  [404, 'The path does not exist'],
  [410, 'which pauses a subscription'],
  [418, 'The receiver rejected the request. See its log'],
  [429, 'If the response has a valid `Retry-After`, Deedwire waits as long as it asks, at most 12 hours.'],
  [500, 'The receiver failed'],
  [599, 'The receiver failed'],
  [103, 'Only a final status of 2xx'],
])('the advice for %i names the cause: %s', (responseStatus, part) => {
  expect(adviceFor({ responseStatus, error: null, detail: null })).toContain(part);
});

test.each([429, 503, 500, 404])('the advice for %i says that a Retry-After was ignored', (responseStatus) => {
  const advice = adviceFor({ responseStatus, error: null, detail: 'RETRY_AFTER_IGNORED' });
  expect(advice).toMatch(/\. Its `Retry-After` is neither seconds nor a date, so Deedwire ignored it\.$/);
  expect(advice).not.toContain('waits');
});
