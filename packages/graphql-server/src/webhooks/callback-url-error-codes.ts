import type { VerificationErrorCode } from '@deedwire/actions';

/** The user errors of every mutation that checks a callback URL. */
export const callbackUrlErrorCodes = [
  'CALLBACK_URL_FORBIDDEN',
  'CALLBACK_URL_INVALID',
  'VERIFICATION_MISMATCH',
  'VERIFICATION_RATE_LIMITED',
  'VERIFICATION_REDIRECT',
  'VERIFICATION_STATUS',
  'VERIFICATION_TIMEOUT',
  'VERIFICATION_UNREACHABLE',
] as const satisfies readonly VerificationErrorCode[];
