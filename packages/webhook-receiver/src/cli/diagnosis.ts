/** The build replaces this module by a bundle, because `webhook-diagnosis` is not published. */
export { diagnoseWebhook, readCapturedRequest, splitCapture } from '@deedwire/webhook-diagnosis';
