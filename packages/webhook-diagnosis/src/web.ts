/** The same diagnosis for pages, without the parts that need Node. */
export { type CapturedRequest, readCapturedRequest } from './captured-request.ts';
export { type Diagnosis, diagnoseWebhook } from './diagnose-webhook.ts';
export { splitCapture } from './split-capture.ts';
