import { beforeAll, expect, test } from 'vitest';
import type { FoundWithoutRoutes } from '../support/routes/routes-process.ts';
import { isWithoutRoutes, runWithoutRoutes } from '../support/routes/run-without-routes.ts';

// The apps as processes, in a network in which some public addresses cannot be reached. One run serves both tests.

/** The user errors of the three mutations. */
const refused = (code: string): string[] =>
  Array.from(
    { length: 3 },
    () =>
      `VERIFICATION_UNREACHABLE input.callbackUrl: The service could not open a connection. The receiver is not the cause. Try again later. The error is ${code}.`,
  );

let found: FoundWithoutRoutes;
beforeAll(async () => {
  if (!isWithoutRoutes) found = await runWithoutRoutes();
});

test.skipIf(isWithoutRoutes)('a callback URL without a route is refused by name, and both interfaces go on', () => {
  expect(found.handshakes).toEqual({
    'v6only.example': refused('ENETUNREACH'),
    'lost.example': refused('ENETUNREACH'),
    'prohibited.example': refused('EACCES'),
    'blackhole.example': refused('EINVAL'),
  });
  expect(found.apps).toMatchObject({ 'customer-api': 'serves', 'supplier-api': 'serves' });
});

test.skipIf(isWithoutRoutes)(
  'a receiver that loses its route fails alone, and gets its events once the route is back',
  () => {
    expect(found.apps).toMatchObject({ 'webhook-worker': 'serves' });
    expect(found.failedAttempts).toEqual({
      'healthy.example': [],
      'leaving.example': ['CONNECTION_FAILED NOT_OPENED'],
    });
    expect(found.received).toEqual({ 'healthy.example': [3, 3], 'leaving.example': [0, 3] });
  },
);
