export const interfaces = { customer: { title: 'Customer', account: 'Customer' } } as const;
