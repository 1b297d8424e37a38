export { type AttemptCause, describeCause, isAttemptCause } from './attempt-cause.ts';
export { type AttemptErrorClass, type HostProblem, type ProxyProblem } from './attempt-error.ts';
export type { DetailsPolicy } from './details-policy.ts';
export type { ExchangeDetails } from './exchange-details.ts';
export { handshakeErrorCodes, type HandshakeResult } from './handshake-result.ts';
export { describeInterceptor, type Interceptor, isInterceptor } from './interceptor.ts';
export type { Resolve } from './resolve.ts';
export {
  type AttemptResult,
  createWebhookSender,
  type Delivery,
  EgressUnavailableError,
  type HandshakeTarget,
  type PreparedTarget,
  TlsVerificationOffError,
  type WebhookSender,
  type WebhookSenderOptions,
  type WebhookTarget,
} from './sender.ts';
