/** The two GraphQL interfaces. Each account belongs to exactly one. */
export type InterfaceName = 'lender' | 'partner';
