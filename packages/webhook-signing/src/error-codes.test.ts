import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { WebhookUsageErrorCode, WebhookVerificationErrorCode } from './index.ts';

// The compiler checks that these literals are exactly the codes of the types.
const verificationCodes: Record<WebhookVerificationErrorCode, true> = {
  HEADER_MALFORMED: true,
  HEADER_MISSING: true,
  SIGNATURE_MISMATCH: true,
  SIGNATURE_MISSING: true,
  TIMESTAMP_CONFLICT: true,
  TIMESTAMP_TOO_NEW: true,
  TIMESTAMP_TOO_OLD: true,
};
const usageCodes: Record<WebhookUsageErrorCode, true> = {
  BODY_NOT_RAW: true,
  HEADERS_INVALID: true,
  ID_INVALID: true,
  NOW_INVALID: true,
  PREFIX_INVALID: true,
  SECRET_INVALID: true,
  TIMESTAMP_INVALID: true,
  TOLERANCE_INVALID: true,
};

test('error-codes.json lists the codes of the types', () => {
  const published = JSON.parse(readFileSync(new URL('../error-codes.json', import.meta.url), 'utf8'));
  expect(Object.keys(published.WebhookVerificationError)).toEqual(Object.keys(verificationCodes));
  expect(Object.keys(published.WebhookUsageError)).toEqual(Object.keys(usageCodes));
});
