import { isEmail, isText, isTextOrBlank } from './text.ts';

/** `CONVERTED` and `DECLINED` are final. */
export type ReferralStatus = 'OPEN' | 'CONVERTED' | 'DECLINED';

/** What a partner says of a client. Null: not given. */
export interface ReferralDetails {
  clientName: string;
  clientEmail: string | null;
  externalReference: string | null;
  note: string | null;
}

/** Which detail cannot be kept, and why, in a sentence for people. */
export interface ReferralProblem {
  detail: keyof ReferralDetails;
  message: string;
}

const clientNameMaxLength = 200;
const externalReferenceMaxLength = 200;
const noteMaxLength = 5_000;
const declineReasonMaxLength = 1_000;

/** Every detail that cannot be kept; none when the referral can be. */
export function findReferralProblems(details: ReferralDetails): ReferralProblem[] {
  const problems: ReferralProblem[] = [];
  if (!isText(details.clientName, clientNameMaxLength)) {
    problems.push({ detail: 'clientName', message: 'The client name must be 1 to 200 characters and not blank.' });
  }
  if (details.clientEmail !== null && !isEmail(details.clientEmail)) {
    problems.push({
      detail: 'clientEmail',
      message: 'The client e-mail must be an address of at most 254 characters.',
    });
  }
  if (details.externalReference !== null && !isText(details.externalReference, externalReferenceMaxLength)) {
    problems.push({
      detail: 'externalReference',
      message: 'The external reference must be 1 to 200 characters and not blank.',
    });
  }
  if (details.note !== null && !isTextOrBlank(details.note, noteMaxLength)) {
    problems.push({ detail: 'note', message: 'The note must be at most 5,000 characters.' });
  }
  return problems;
}

/** Whether a referral that stands like this can still be converted or declined. */
export function canCloseReferral(status: ReferralStatus): boolean {
  return status === 'OPEN';
}

/** Whether this can be given as the reason why a referral was declined. */
export function isDeclineReason(reason: string): boolean {
  return isText(reason, declineReasonMaxLength);
}

/** The reference of a matter by which people know it, for example `M-2026-000042`. The number does not start anew each year. */
export function formatMatterReference(matterNumber: string, openedAt: Date): string {
  return `M-${openedAt.getUTCFullYear()}-${matterNumber.padStart(6, '0')}`;
}
