import DataLoader from 'dataloader';
import { GraphQLScalarType } from 'graphql';
import type { Pool } from 'pg';

/** What every peer serves: the part of our two interfaces that the shapes use, on the tables of our database. */
export const typeDefs = /* GraphQL */ `
  scalar DateTime
  type Query {
    lender: Lender!
    referrals(first: Int = 20, after: String): ReferralConnection!
  }
  type Lender {
    id: ID!
    name: String!
    members: [TeamMember!]!
  }
  type TeamMember {
    id: ID!
    firstName: String!
    lastName: String!
    email: String!
  }
  enum ReferralStatus {
    OPEN
    CONVERTED
    DECLINED
  }
  type Referral {
    id: ID!
    status: ReferralStatus!
    clientName: String!
    clientEmail: String
    externalReference: String
    note: String
    createdAt: DateTime!
    closedAt: DateTime
    matter: Matter
  }
  type Matter {
    id: ID!
    reference: String!
    openedAt: DateTime!
  }
  type ReferralConnection {
    nodes: [Referral!]!
    pageInfo: PageInfo!
  }
  type PageInfo {
    endCursor: String
    hasNextPage: Boolean!
  }
`;

/** A row as `pg` returns it. */
type Row = Readonly<Record<string, string | Date | null>>;

export interface PeerContext {
  pool: Pool;
  accountId: string;
  matters: DataLoader<string, Row | null>;
}

interface ReferralPage {
  rows: Row[];
  hasNextPage: boolean;
}

const gid = (type: string, { id }: Row): string => `gid://service/${type}/${String(id)}`;

/** @param accountId the value of the header `x-account-id`, which the peers trust */
export function createPeerContext(pool: Pool, accountId: string): PeerContext {
  const matters = new DataLoader<string, Row | null>(async (referralIds) => {
    const { rows } = await pool.query<Row>({
      name: 'matters',
      text: 'select id, referral_id, reference, opened_at from matter where referral_id = any ($1)',
      values: [referralIds],
    });
    const byReferral = new Map(rows.map((row) => [row['referral_id'], row]));
    return referralIds.map((id) => byReferral.get(id) ?? null);
  });
  return { pool, accountId, matters };
}

export const resolvers = {
  DateTime: new GraphQLScalarType<Date, string>({
    name: 'DateTime',
    serialize(value) {
      if (value instanceof Date) return value.toISOString();
      throw new TypeError('DateTime needs a Date.');
    },
  }),
  Query: {
    async lender(_: unknown, _arguments: unknown, { pool, accountId }: PeerContext): Promise<Row | undefined> {
      const text = `select id, name from account where id = $1 and interface = 'lender'`;
      const { rows } = await pool.query<Row>({ name: 'lender', text, values: [accountId] });
      return rows[0];
    },
    async referrals(
      _: unknown,
      { first, after }: { first: number; after?: string | null },
      { pool, accountId }: PeerContext,
    ): Promise<ReferralPage> {
      const afterId = after ? Buffer.from(after, 'base64url').toString().split(':')[1] : '9223372036854775807';
      const { rows } = await pool.query<Row>({
        name: 'referrals',
        text: `
          select id, status, client_name, client_email, external_reference, note, created_at, closed_at
          from referral
          where account_id = $1 and id < $2
          order by id desc
          limit $3`,
        values: [accountId, afterId, first + 1],
      });
      return { rows: rows.slice(0, first), hasNextPage: rows.length > first };
    },
  },
  Lender: {
    id: (row: Row) => gid('Lender', row),
    name: ({ name }: Row) => name,
    async members({ id }: Row, _arguments: unknown, { pool }: PeerContext): Promise<Row[]> {
      const { rows } = await pool.query<Row>({
        name: 'members',
        text: 'select id, first_name, last_name, email from team_member where account_id = $1 order by id',
        values: [id],
      });
      return rows;
    },
  },
  TeamMember: {
    id: (row: Row) => gid('TeamMember', row),
    firstName: (row: Row) => row['first_name'],
    lastName: (row: Row) => row['last_name'],
    email: ({ email }: Row) => email,
  },
  Referral: {
    id: (row: Row) => gid('Referral', row),
    status: ({ status }: Row) => status,
    clientName: (row: Row) => row['client_name'],
    clientEmail: (row: Row) => row['client_email'],
    externalReference: (row: Row) => row['external_reference'],
    note: ({ note }: Row) => note,
    createdAt: (row: Row) => row['created_at'],
    closedAt: (row: Row) => row['closed_at'],
    matter: ({ id }: Row, _arguments: unknown, { matters }: PeerContext) => matters.load(String(id)),
  },
  Matter: {
    id: (row: Row) => gid('Matter', row),
    reference: ({ reference }: Row) => reference,
    openedAt: (row: Row) => row['opened_at'],
  },
  ReferralConnection: {
    nodes: ({ rows }: ReferralPage) => rows,
    pageInfo: (page: ReferralPage) => page,
  },
  PageInfo: {
    endCursor({ rows }: ReferralPage): string | null {
      const last = rows.at(-1);
      return last === undefined ? null : Buffer.from(`referrals:${String(last['id'])}`).toString('base64url');
    },
    hasNextPage: ({ hasNextPage }: ReferralPage) => hasNextPage,
  },
};
