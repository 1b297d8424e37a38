import type { InterfaceName } from '@deedwire/firm';

/** A query that clients send, and the accounts that send it. */
export interface Shape {
  name: string;
  /** One line for the help and the report. */
  title: string;
  interfaceName: InterfaceName;
  /** How many accounts send the query, each on its own connections. */
  accounts: number;
  /** Of each lender that sends the query. Null for partners. */
  members: number | null;
  query: string;
}

const lenderWithMembers = '{ lender { id name members { id firstName lastName email } } }';

export const shapes: readonly Shape[] = [
  {
    name: 'members-10',
    title: 'lender with 10 members',
    interfaceName: 'lender',
    accounts: 32,
    members: 10,
    query: lenderWithMembers,
  },
  {
    name: 'scalar',
    title: 'one scalar of the lender',
    interfaceName: 'lender',
    accounts: 32,
    members: 10,
    query: '{ lender { name } }',
  },
  {
    name: 'members-100',
    title: 'lender with 100 members',
    interfaceName: 'lender',
    accounts: 32,
    members: 100,
    query: lenderWithMembers,
  },
  {
    name: 'referrals-100',
    title: 'a page of 100 referrals, half of them with a matter',
    interfaceName: 'partner',
    accounts: 8,
    members: null,
    query: `{
      referrals(first: 100) {
        nodes {
          id status clientName clientEmail externalReference note createdAt closedAt
          matter { id reference openedAt }
        }
        pageInfo { endCursor hasNextPage }
      }
    }`,
  },
];
