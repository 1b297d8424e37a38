export { type AttemptErrorClass, attemptErrorClasses } from './attempt-error.ts';
export type { CallbackPolicy } from './callback-policy.ts';
export { type CallbackUrlCheck, checkCallbackUrl } from './callback-url.ts';
export type { HandshakeErrorCode, HandshakeResult } from './handshake-result.ts';
export type { Resolve } from './resolve.ts';
export {
  type AttemptResult,
  createWebhookSender,
  type Delivery,
  type PreparedTarget,
  TlsVerificationOffError,
  type WebhookSender,
  type WebhookSenderOptions,
  type WebhookTarget,
} from './sender.ts';
