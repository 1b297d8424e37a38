import { formatGid, type ReferralStatus } from '@deedwire/domain';
import type { ReferralRow } from '@deedwire/store';

/** Mirrors `Matter` of the partner interface. */
export interface Matter {
  id: string;
  reference: string;
  openedAt: Date;
}

/** Mirrors `Referral` of the partner interface. */
export interface Referral {
  id: string;
  status: ReferralStatus;
  clientName: string;
  clientEmail: string | null;
  externalReference: string | null;
  note: string | null;
  createdAt: Date;
  /** Null while it is open. */
  closedAt: Date | null;
  /** Null unless it was converted. */
  matter: Matter | null;
}

export function toReferral(gidNamespace: string, row: ReferralRow): Referral {
  return {
    id: formatGid(gidNamespace, 'Referral', row.id),
    status: row.status,
    clientName: row.client_name,
    clientEmail: row.client_email,
    externalReference: row.external_reference,
    note: row.note,
    createdAt: row.created_at,
    closedAt: row.closed_at,
    matter:
      row.matter_id === null || row.matter_reference === null || row.matter_opened_at === null
        ? null
        : {
            id: formatGid(gidNamespace, 'Matter', row.matter_id),
            reference: row.matter_reference,
            openedAt: row.matter_opened_at,
          },
  };
}
