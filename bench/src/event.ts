import { readFileSync } from 'node:fs';

/** The body of a `referral.converted` webhook of version 2027-02-01, as the worker sends it. */
export const event = Buffer.from(
  JSON.stringify(
    JSON.parse(
      readFileSync(
        new URL(
          '../../packages/webhook-events/fixtures/referral.converted/2027-02-01/accept/typical.json',
          import.meta.url,
        ),
        'utf8',
      ),
    ),
  ),
);
