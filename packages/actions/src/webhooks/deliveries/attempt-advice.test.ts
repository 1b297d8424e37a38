import { expect, test } from 'vitest';
import { adviceFor, shownAttemptErrors } from './attempt-advice.ts';

const statuses = Array.from({ length: 500 }, (_, index) => 100 + index);

test.each([200, 201, 204, 299])('gives no advice for %i', (responseStatus) => {
  expect(adviceFor({ responseStatus, error: null, detail: null })).toBeNull();
});

/** The verbs with which a sentence, or a part of one, tells somebody to do something. */
const imperative =
  /(?:^|[.;:,] (?:and |otherwise )?|; | and )(?:Add|Allow|Change|Check|Deploy|Exempt|Let|Make|Raise|Remove|Report|Restore|See|Set|Store|make)\b/;

test('says what to do about every failure, in at most 250 characters', () => {
  const failures = [
    ...shownAttemptErrors.map((error) => adviceFor({ responseStatus: null, error, detail: null })),
    ...statuses
      .filter((status) => status < 200 || status > 299)
      .flatMap((responseStatus) =>
        [null, 'RETRY_AFTER_IGNORED', 'SIGN_IN', 'CSRF_CHECK'].map((detail) =>
          adviceFor({ responseStatus, error: null, detail }),
        ),
      ),
  ];
  expect(failures.filter((advice) => advice === null || advice.length > 250 || !imperative.test(advice))).toEqual([]);
});

test.each([
  [
    'TLS_FAILED',
    'TLS_REFUSED',
    'Could not establish a TLS connection to the receiver: the server refused the TLS handshake. Check that it supports TLS 1.2 or later for this host name, without a client certificate.',
  ],
  [
    'CONNECTION_FAILED',
    'NOT_OPENED',
    'The service could not open a connection. The receiver is not the cause. Try again later.',
  ],
  [
    'CONNECTION_FAILED',
    'UNREACHABLE',
    'Could not connect to the receiver: no route leads to its addresses. Check that other networks can reach them.',
  ],
  [
    'TIMEOUT',
    'BODY_NOT_ENDED',
    'The receiver returned status 200, but the response body did not end. Store the event, respond at once, and process it later.',
  ],
  [
    'PROTOCOL_ERROR',
    'BODY_ENDED_EARLY',
    'The receiver returned status 200, but the body ended early: before its Content-Length, or before its last chunk. Check what sets Content-Length, and what closes the connection.',
  ],
  [
    'PROTOCOL_ERROR',
    'HEADER_VALUE_INVALID',
    'The response of the receiver is not valid HTTP/1.1: the value of a header has a control character. Remove it; proxies and firewalls add such headers too.',
  ],
  [
    'PROTOCOL_ERROR',
    'REQUEST_NOT_SENT',
    'The request could not be built, or not be written as HTTP. Your receiver is not the cause. Report the identifier of the delivery.',
  ],
] as const)('the advice for %s names the cause %s', (error, detail, advice) => {
  expect(adviceFor({ responseStatus: 200, error, detail })).toBe(advice);
});

test.each([null, 'OF_A_NEWER_BUILD', 'RETRY_AFTER_IGNORED', 'constructor'])(
  'the advice for an error without a known cause (%s) is that of its class',
  (detail) => {
    expect(adviceFor({ responseStatus: null, error: 'CONNECTION_FAILED', detail })).toMatch(
      /^No connection, or it was closed before the response was complete\. Check /,
    );
  },
);

test.each(['NO_RESPONSE', 'BODY_NOT_ENDED'])(
  'the advice for %s names the timeout only if a longer one helps',
  (detail) => {
    const result = { responseStatus: 200, error: 'TIMEOUT', detail } as const;
    const advice = adviceFor({ ...result, needsLonger: true });
    expect(advice).toBe(
      `${adviceFor(result)} If it cannot, and the timeout of the subscription is below 15 seconds, raise it.`,
    );
    expect(advice?.length).toBeLessThanOrEqual(250);
  },
);

test('an error counts although a status arrived', () => {
  expect(adviceFor({ responseStatus: 200, error: 'TIMEOUT', detail: null })).toBe(
    'The complete response did not arrive within the timeout of the subscription. Store the event, respond at once, and process it later.',
  );
});

test.each([
  [308, 'The callback URL redirects'],
  [401, 'Or set the header that a gateway expects.'],
  [403, 'Or set the header that a gateway expects.'],
  [404, 'The path does not exist'],
  [410, 'which pauses a subscription'],
  [418, 'The receiver rejected the request. See its log'],
  [429, 'Raise the limit'],
  [503, 'is unavailable'],
  [500, 'The receiver failed'],
  [599, 'The receiver failed'],
  [103, 'Only a final status of 2xx'],
])('the advice for %i names the cause: %s', (responseStatus, part) => {
  expect(adviceFor({ responseStatus, error: null, detail: null })).toContain(part);
});

test.each([
  [419, 'CSRF_CHECK', 'A CSRF check refused the request. Exempt this path from CSRF checks'],
  [302, 'SIGN_IN', 'A login protects the URL. Let requests to this path through without a login'],
])('the advice for %i with %s is about what responded in place of the receiver', (responseStatus, detail, start) => {
  expect(adviceFor({ responseStatus, error: null, detail })).toMatch(new RegExp(`^${start}: .+\\.$`));
});

test.each([429, 503, 500, 404])('the advice for %i says that a Retry-After was ignored', (responseStatus) => {
  const advice = adviceFor({ responseStatus, error: null, detail: 'RETRY_AFTER_IGNORED' });
  expect(advice).toMatch(/\. Its `Retry-After` is neither seconds nor a date, so Deedwire ignored it\.$/);
  expect(advice).not.toContain('waits');
});

test('no advice contains a name of the API: operators and owners of receivers read it', () => {
  const failures = statuses.map((responseStatus) => adviceFor({ responseStatus, error: null, detail: null }));
  const errors = shownAttemptErrors.map((error) => adviceFor({ responseStatus: null, error, detail: null }));
  expect(
    [...failures, ...errors].filter((advice) =>
      /`(?!Retry-After`)/.test(advice?.replaceAll(/`Retry-After`/g, '') ?? ''),
    ),
  ).toEqual([]);
});
