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
    edges: [ReferralEdge!]!
    nodes: [Referral!]!
    pageInfo: PageInfo!
  }
  type ReferralEdge {
    cursor: String!
    node: Referral!
  }
  type PageInfo {
    endCursor: String
    hasNextPage: Boolean!
  }
`;

export interface PeerContext {
  pool: Pool;
  accountId: string;
  matters: DataLoader<string, MatterRow | null>;
}

interface LenderRow {
  id: string;
  name: string;
}

interface TeamMemberRow {
  id: string;
  first_name: string;
  last_name: string;
  email: string;
}

interface ReferralRow {
  id: string;
  status: string;
  client_name: string;
  client_email: string | null;
  external_reference: string | null;
  note: string | null;
  created_at: Date;
  closed_at: Date | null;
}

interface MatterRow {
  id: string;
  referral_id: string;
  reference: string;
  opened_at: Date;
}

interface ReferralPage {
  rows: ReferralRow[];
  hasNextPage: boolean;
}

const gid = (type: string, id: string): string => `gid://service/${type}/${id}`;
const cursor = ({ id }: ReferralRow): string => Buffer.from(`referrals:${id}`).toString('base64url');

/** @param accountId the value of the header `x-account-id`, which the peers trust */
export function createPeerContext(pool: Pool, accountId: string): PeerContext {
  const matters = new DataLoader<string, MatterRow | null>(async (referralIds) => {
    const { rows } = await pool.query<MatterRow>({
      name: 'matters',
      text: 'select id, referral_id, reference, opened_at from matter where referral_id = any ($1)',
      values: [referralIds],
    });
    const byReferral = new Map(rows.map((row) => [row.referral_id, row]));
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
    async lender(_: unknown, _arguments: unknown, { pool, accountId }: PeerContext): Promise<LenderRow | undefined> {
      const text = `select id, name from account where id = $1 and interface = 'lender'`;
      const { rows } = await pool.query<LenderRow>({ name: 'lender', text, values: [accountId] });
      return rows[0];
    },
    async referrals(
      _: unknown,
      { first, after }: { first: number; after?: string | null },
      { pool, accountId }: PeerContext,
    ): Promise<ReferralPage> {
      const afterId = after ? Buffer.from(after, 'base64url').toString().split(':')[1] : '9223372036854775807';
      const { rows } = await pool.query<ReferralRow>({
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
    id: ({ id }: LenderRow) => gid('Lender', id),
    name: ({ name }: LenderRow) => name,
    async members({ id }: LenderRow, _arguments: unknown, { pool }: PeerContext): Promise<TeamMemberRow[]> {
      const { rows } = await pool.query<TeamMemberRow>({
        name: 'members',
        text: 'select id, first_name, last_name, email from team_member where account_id = $1 order by id',
        values: [id],
      });
      return rows;
    },
  },
  TeamMember: {
    id: ({ id }: TeamMemberRow) => gid('TeamMember', id),
    firstName: (row: TeamMemberRow) => row.first_name,
    lastName: (row: TeamMemberRow) => row.last_name,
    email: ({ email }: TeamMemberRow) => email,
  },
  Referral: {
    id: ({ id }: ReferralRow) => gid('Referral', id),
    status: ({ status }: ReferralRow) => status,
    clientName: (row: ReferralRow) => row.client_name,
    clientEmail: (row: ReferralRow) => row.client_email,
    externalReference: (row: ReferralRow) => row.external_reference,
    note: ({ note }: ReferralRow) => note,
    createdAt: (row: ReferralRow) => row.created_at,
    closedAt: (row: ReferralRow) => row.closed_at,
    matter: ({ id }: ReferralRow, _arguments: unknown, { matters }: PeerContext) => matters.load(id),
  },
  Matter: {
    id: ({ id }: MatterRow) => gid('Matter', id),
    reference: ({ reference }: MatterRow) => reference,
    openedAt: (row: MatterRow) => row.opened_at,
  },
  ReferralConnection: {
    edges: ({ rows }: ReferralPage) => rows,
    nodes: ({ rows }: ReferralPage) => rows,
    pageInfo: (page: ReferralPage) => page,
  },
  ReferralEdge: {
    cursor,
    node: (row: ReferralRow) => row,
  },
  PageInfo: {
    endCursor({ rows }: ReferralPage): string | null {
      const last = rows.at(-1);
      return last === undefined ? null : cursor(last);
    },
    hasNextPage: ({ hasNextPage }: ReferralPage) => hasNextPage,
  },
};
