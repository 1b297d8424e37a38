/** Our table of referrals, with the columns, checks and indexes that an insert touches. */
export const createReferralTable = `
  create table account (id bigint primary key);
  insert into account values (1);
  create table referral (
    id bigint primary key generated always as identity,
    account_id bigint not null references account,
    status text not null default 'OPEN' check (status in ('OPEN', 'CONVERTED', 'DECLINED')),
    client_name text not null,
    client_email text,
    external_reference text,
    note text,
    created_at timestamptz(3) not null default now(),
    closed_at timestamptz(3),
    decline_reason text,
    check ((status = 'OPEN') = (closed_at is null))
  );
  create index on referral (account_id, id);
  create index on referral (account_id, status, id);
  create index on referral (account_id, external_reference, status, id) where external_reference is not null`;

export interface NewReferral {
  clientName: string;
  clientEmail: string | null;
  externalReference: string | null;
}

export interface Referral {
  /** A bigint in decimal digits. */
  id: string;
  createdAt: Date;
}

/** A prepared statement of `pg`, which returns a Referral. */
export function insertReferral({ clientName, clientEmail, externalReference }: NewReferral) {
  return {
    name: 'insert-referral',
    text: `
      insert into referral (account_id, client_name, client_email, external_reference)
      values (1, $1, $2, $3)
      returning id, created_at as "createdAt"`,
    values: [clientName, clientEmail, externalReference],
  };
}
