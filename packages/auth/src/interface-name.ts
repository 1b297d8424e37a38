/** The GraphQL interfaces. Each API key is valid for exactly one of them. */
export type InterfaceName = 'lender' | 'partner';
