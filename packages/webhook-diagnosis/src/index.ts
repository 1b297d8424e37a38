export { type CapturedRequest, type CaptureResult, readCapturedRequest } from './captured-request.ts';
export type { ContractOrder } from './body-variants.ts';
export { type Diagnosis, type DiagnosisInput, diagnoseWebhook } from './diagnose-webhook.ts';
export { exampleFindings } from './example-findings.ts';
export type { Finding, FindingCode } from './findings.ts';
export { type CapturePart, splitCapture } from './split-capture.ts';
