import { describeLength, isEmail, isText, isTextOrBlank } from '@deedwire/core';

/** `CONVERTED` and `DECLINED` are final. */
export const referralStatuses = ['OPEN', 'CONVERTED', 'DECLINED'] as const;

export type ReferralStatus = (typeof referralStatuses)[number];

/** The details of a referral that the partner provides. Null if omitted. */
export interface ReferralDetails {
  clientName: string;
  clientEmail: string | null;
  externalReference: string | null;
  note: string | null;
}

/** A detail that is invalid, with a message for clients. */
export interface ReferralProblem {
  detail: keyof ReferralDetails;
  message: string;
}

const clientNameMaxLength = 200;
const externalReferenceMaxLength = 200;
const noteMaxLength = 5_000;
const declineReasonMaxLength = 1_000;

/** Returns every invalid detail, or an empty list if the referral is valid. */
export function findReferralProblems(details: ReferralDetails): ReferralProblem[] {
  const problems: ReferralProblem[] = [];
  if (!isText(details.clientName, clientNameMaxLength)) {
    problems.push({
      detail: 'clientName',
      message: `The client name must be 1 to 200 characters and not blank. It has ${describeLength(details.clientName)}.`,
    });
  }
  if (details.clientEmail !== null && !isEmail(details.clientEmail)) {
    problems.push({
      detail: 'clientEmail',
      message: `The client email must be a valid address of at most 254 characters. It has ${describeLength(details.clientEmail)}.`,
    });
  }
  if (details.externalReference !== null && !isText(details.externalReference, externalReferenceMaxLength)) {
    problems.push({
      detail: 'externalReference',
      message: `The external reference must be 1 to 200 characters and not blank. It has ${describeLength(details.externalReference)}.`,
    });
  }
  if (details.note !== null && !isTextOrBlank(details.note, noteMaxLength)) {
    problems.push({
      detail: 'note',
      message: `The note must be at most 5,000 characters. It has ${describeLength(details.note)}.`,
    });
  }
  return problems;
}

/** Returns true if a referral with this status can be converted or declined. */
export function canCloseReferral(status: ReferralStatus): boolean {
  return status === 'OPEN';
}

/** Returns true if the text is a valid reason for declining a referral. */
export function isDeclineReason(reason: string): boolean {
  return isText(reason, declineReasonMaxLength);
}
