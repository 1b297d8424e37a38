import { findEventVersion } from '@deedwire/webhook-events';
import type { ContractOrder } from './body-variants.ts';
import { type Diagnosis, diagnose, type DiagnosisInput } from './diagnose-webhook.ts';

export { type CapturedRequest, type CaptureResult, readCapturedRequest } from './captured-request.ts';
export type { Diagnosis, DiagnosisInput } from './diagnose-webhook.ts';
export { exampleFindings } from './example-findings.ts';
export type { Finding, FindingCode } from './findings.ts';
export { type CapturePart, splitCapture } from './split-capture.ts';

const order: ContractOrder = (type, version, value) => {
  const parsed = findEventVersion(type, version)?.body.safeParse(value);
  return parsed?.success === true ? JSON.stringify(parsed.data) : null;
};

/** As `diagnose`, with the order of fields in the contract. */
export function diagnoseWebhook(input: DiagnosisInput): Promise<Diagnosis> {
  return diagnose(input, order);
}
