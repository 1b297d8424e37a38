import { gidNamespacePattern } from './gid.ts';
import type { Names } from './service.ts';

/** What each name must match. All of them become parts of headers, keys and URLs. */
export const nameForms: Readonly<Record<keyof Names, RegExp>> = {
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
