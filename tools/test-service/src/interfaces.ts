/** Those of `testService`, which imports what is generated. */
export const interfaces = {
  customer: { title: 'Customer', account: 'Customer' },
  supplier: { title: 'Supplier', account: 'Supplier' },
} as const;
