import { gidNamespacePattern } from './gid.ts';
import type { Names } from './service.ts';

/** What each name must match. All of them become parts of roles, headers, keys and URLs. */
export const nameForms: Readonly<Record<keyof Names, RegExp>> = {
  // With an underscore, the longest prefix of roles that a database takes. PostgreSQL reserves the names of roles that begin with `pg_`.
  service: /^(?!pg(?:_|$))[a-z][a-z0-9_]{0,18}$/,
  gidNamespace: gidNamespacePattern,
  // API keys separate their parts by `_`.
  apiKeyPrefix: /^[a-z][a-z0-9]{0,15}$/,
  headerPrefix: /^X-[A-Z][A-Za-z0-9]{0,31}$/,
  userAgent: /^[A-Z][A-Za-z0-9-]{0,63}$/,
};

/** The faults of the names of a service, one sentence each. */
export function findNameFaults(names: Names): string[] {
  return Object.entries(nameForms).flatMap(([key, form]) => {
    const value = new Map(Object.entries({ ...names })).get(key) ?? '';
    return form.test(value)
      ? []
      : [`The name ${key} is ${JSON.stringify(value)}, which does not match ${form.source}.`];
  });
}

/** Whether an interface can have this name. */
export const isInterfaceName = (text: string): boolean => /^(?=.{1,31}$)[a-z]+(?:-[a-z]+)*$/.test(text);

/** Whether a service can have this name. An underscore after it makes a prefix of roles. */
export const isServiceName = (text: string): boolean => nameForms.service.test(text);
