/** What is known about an interface beside its contract. */
interface Interface {
  /** In headings. */
  title: string;
  /** The type of its accounts, in the SDL and in global identifiers. */
  accountType: string;
  /** The beginning of its URLs: `<path>/graphql` and `<path>/portal/`. */
  path: string;
  /** The default of `PORT`. */
  port: number;
  /** The default of `ADMIN_PORT`. */
  adminPort: number;
  /** The types of the records that its events are about. */
  records: readonly string[];
}

/**
 * The GraphQL interfaces. Each account belongs to exactly one. `docs/your-domain.md` says how to add one; `pnpm generate` and the code
 * derive the rest from this list. The name is the value in the database and in API keys, `packages/<name>-schema` is the contract, and
 * `apps/<name>-api` serves it.
 */
export const interfaces = {
  lender: {
    title: 'Lender',
    accountType: 'Lender',
    path: '/lenders',
    port: 4001,
    adminPort: 4101,
    records: ['Lender', 'TeamMember'],
  },
  partner: {
    title: 'Partner',
    accountType: 'Partner',
    path: '/partners',
    port: 4002,
    adminPort: 4102,
    records: ['Referral'],
  },
} as const satisfies Record<string, Interface>;

export type InterfaceName = keyof typeof interfaces;
export type AccountTypeName = (typeof interfaces)[InterfaceName]['accountType'];
/** The types of the records that events are about. */
export type EventRecordType = (typeof interfaces)[InterfaceName]['records'][number];

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `Object.keys` returns strings
export const interfaceNames = Object.keys(interfaces) as unknown as readonly [InterfaceName, ...InterfaceName[]];

/** What only `pnpm dev` and the tests start: no image, deployment, alarm or question about an environment contains it. */
const notDeployed: readonly InterfaceName[] = [];
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without any, there is nothing to deploy
export const deployedInterfaces = interfaceNames.filter(
  (name) => !notDeployed.includes(name),
) as unknown as typeof interfaceNames;

/** A value for each interface, in the order of the list. */
export function perInterface<Value>(valueOf: (name: InterfaceName) => Value): Record<InterfaceName, Value> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has each name
  return Object.fromEntries(interfaceNames.map((name) => [name, valueOf(name)])) as Record<InterfaceName, Value>;
}

export type InterfaceApp = `${InterfaceName}-api`;

/** The app of an interface. */
export function appOf<Name extends InterfaceName>(name: Name): `${Name}-api` {
  return `${name}-api`;
}

/** `billing_statement` for `billing-statement`. */
export type SnakeCase<Name extends string> = Name extends `${infer Start}-${infer End}`
  ? `${Start}_${SnakeCase<End>}`
  : Name;
export type InterfaceRole = `${SnakeCase<InterfaceName>}_api`;

/** The group role of the app of an interface, in the database. */
export function roleOf(name: InterfaceName): InterfaceRole {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `SnakeCase` describes this replacement
  return `${name.replaceAll('-', '_')}_api` as InterfaceRole;
}

/** The beginning of the environment variables of an interface: `LENDER`. */
export function variableOf<Name extends InterfaceName>(name: Name): Uppercase<SnakeCase<Name>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `SnakeCase` describes this replacement
  return name.replaceAll('-', '_').toUpperCase() as Uppercase<SnakeCase<Name>>;
}

/** The client ids of the portal, which the database makes. */
export const portalClientPattern = `^portal_(?:${interfaceNames.join('|')})_[0-9]+$`;
