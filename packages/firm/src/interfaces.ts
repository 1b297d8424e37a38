// `pnpm generate` reads this file before it writes what the others import.

/** The interfaces, without their versions. */
export const interfaces = {
  lender: { title: 'Lender', account: 'Lender', path: '/lenders', port: 4001, adminPort: 4101 },
  partner: { title: 'Partner', account: 'Partner', path: '/partners', port: 4002, adminPort: 4102 },
} as const;

export type InterfaceName = keyof typeof interfaces;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `Object.keys` returns strings
export const interfaceNames = Object.keys(interfaces) as unknown as readonly [InterfaceName, ...InterfaceName[]];

/** A value for each interface, in their order. */
export function perInterface<Value>(valueOf: (name: InterfaceName) => Value): Record<InterfaceName, Value> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has each name
  return Object.fromEntries(interfaceNames.map((name) => [name, valueOf(name)])) as Record<InterfaceName, Value>;
}
