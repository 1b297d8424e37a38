/** The two GraphQL interfaces. Credentials are issued for exactly one of them. */
export type InterfaceName = 'lender' | 'partner';
