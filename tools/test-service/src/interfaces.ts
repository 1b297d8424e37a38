// `pnpm generate` reads this file before it writes what the others import.

export const interfaces = {
  customer: { title: 'Customer', account: 'Customer' },
  supplier: { title: 'Supplier', account: 'Supplier' },
} as const;

export type InterfaceName = keyof typeof interfaces;
