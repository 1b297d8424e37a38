export { type AttemptErrorClass, attemptErrorClasses } from './attempt-error.ts';
export type { CallbackPolicy } from './callback-policy.ts';
export { type CallbackUrlCheck, checkCallbackUrl } from './callback-url.ts';
export type { HandshakeErrorCode, HandshakeOutcome } from './handshake-verdict.ts';
export type { Resolve } from './resolve.ts';
export {
  type AttemptOutcome,
  createWebhookSender,
  type Delivery,
  TlsVerificationOffError,
  type WebhookSender,
  type WebhookSenderOptions,
} from './sender.ts';
