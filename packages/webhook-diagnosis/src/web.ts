/**
 * The same diagnosis for pages. It does not load the schemas of the contract, which are larger than the rest, so it recognizes
 * reordered fields only by `sentBody`.
 */
import { type Diagnosis, diagnose, type DiagnosisInput } from './diagnose-webhook.ts';

export { type CapturedRequest, readCapturedRequest } from './captured-request.ts';
export type { Diagnosis } from './diagnose-webhook.ts';
export { splitCapture } from './split-capture.ts';

export function diagnoseWebhook(input: DiagnosisInput): Promise<Diagnosis> {
  return diagnose(input, () => null);
}
