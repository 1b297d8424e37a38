import { formatGid, type ReferralStatus } from '@deedwire/domain';
import type { ReferralRow } from '@deedwire/store/referrals';

/** `Matter` of the partner interface. */
export interface Matter {
  id: string;
  reference: string;
  openedAt: Date;
}

/** `Referral` of the partner interface. */
export interface Referral {
  id: string;
  status: ReferralStatus;
  clientName: string;
  clientEmail: string | null;
  externalReference: string | null;
  note: string | null;
  createdAt: Date;
  /** Null while the referral is open. */
  closedAt: Date | null;
  /** Null unless the referral was converted. */
  matter: Matter | null;
}

export function toReferral(gidNamespace: string, row: ReferralRow): Referral {
  return {
    id: formatGid(gidNamespace, 'Referral', row.id),
    status: row.status,
    clientName: row.clientName,
    clientEmail: row.clientEmail,
    externalReference: row.externalReference,
    note: row.note,
    createdAt: row.createdAt,
    closedAt: row.closedAt,
    matter:
      row.matterId === null || row.matterReference === null || row.matterOpenedAt === null
        ? null
        : {
            id: formatGid(gidNamespace, 'Matter', row.matterId),
            reference: row.matterReference,
            openedAt: row.matterOpenedAt,
          },
  };
}
