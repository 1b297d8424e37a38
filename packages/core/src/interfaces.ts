import type { Event } from './event.ts';
import type { Interface, Service } from './service.ts';

/** The name of an interface of the service, which `defineService` has checked. */
export type InterfaceName = string;

/** @throws {TypeError} if the service has no such interface */
export function interfaceOf({ interfaces }: Service, name: InterfaceName): Interface {
  const found = Object.hasOwn(interfaces, name) ? interfaces[name] : undefined;
  if (found === undefined) throw new TypeError(`The service has no interface ${JSON.stringify(name)}.`);
  return found;
}

/** In the order of the service. */
export function interfaceNamesOf({ interfaces }: Service): InterfaceName[] {
  return Object.keys(interfaces);
}

/** The types of the accounts of all interfaces. */
export function accountTypesOf({ interfaces }: Service): string[] {
  return Object.values(interfaces).map(({ account }) => account);
}

/** What is derived from a service, or from a part of one, once for each. */
export function ofService<Value, Part extends object = Service>(
  derive: (service: Part) => Value,
): (service: Part) => Value {
  const derived = new WeakMap<Part, Value>();
  return (service) => {
    const known = derived.get(service);
    if (known !== undefined) return known;
    const value = derive(service);
    derived.set(service, value);
    return value;
  };
}

const eventsByType = ofService(({ events }) => new Map(events.map((event) => [event.type, event])));

/** Undefined if the service has no such event. */
export function eventOf(service: Service, type: string): Event | undefined {
  return eventsByType(service).get(type);
}

export type InterfaceApp<Name extends InterfaceName = InterfaceName> = `${Name}-api`;

/** The app of an interface. */
export function appOf<Name extends InterfaceName>(name: Name): InterfaceApp<Name> {
  return `${name}-api`;
}

/** `billing_statement` for `billing-statement`. */
export type SnakeCase<Name extends string> = Name extends `${infer Start}-${infer End}`
  ? `${Start}_${SnakeCase<End>}`
  : Name;
export type InterfaceRole = `${string}_api`;

/** The group role of the app of an interface, in the database. */
export function roleOf(name: InterfaceName): InterfaceRole {
  return `${name.replaceAll('-', '_')}_api`;
}

/** The beginning of the environment variables of an interface: `LENDER`. */
export function variableOf<Name extends InterfaceName>(name: Name): Uppercase<SnakeCase<Name>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `SnakeCase` describes this replacement
  return name.replaceAll('-', '_').toUpperCase() as Uppercase<SnakeCase<Name>>;
}

/** The client ids of the portal, which the database makes. */
export const portalClientPattern = ofService((service) => `^portal_(?:${interfaceNamesOf(service).join('|')})_[0-9]+$`);
