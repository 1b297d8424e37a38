/** The build replaces this module by a bundle, because the packages are not published. */
export { diagnoseWebhook, readCapturedRequest, splitCapture } from '@deedwire/webhook-diagnosis';
export { describeInterceptor, type Interceptor, interceptorOf } from '@deedwire/webhook-sender/interceptor';
