import { readFileSync } from 'node:fs';
import { type InterfaceName, interfaceNames, perInterface } from '@deedwire/firm';

const read = (name: InterfaceName, file: string): string =>
  readFileSync(new URL(`../../../../../packages/${name}-schema/${file}`, import.meta.url), 'utf8');

/** The dates of the versions of each interface, oldest first, and their SDL and manifests. From the files, so that no package is named. */
export const interfaceContracts = perInterface((name) => ({
  dates: Object.keys(JSON.parse(read(name, 'versions.json'))).toSorted(),
  sdl: (date: string) => read(name, `versions/${date}.graphql`),
  manifest: (date: string) => JSON.parse(read(name, `versions/${date}.manifest.json`)),
}));

/** Each version of each interface. */
export const served = interfaceNames.flatMap((name) =>
  interfaceContracts[name].dates.map((date) => ({ account: name, date })),
);

/** The newest version of each interface: the code behind a webhook field is the same at every version. */
export const newest = interfaceNames.map((name) => ({
  account: name,
  date: interfaceContracts[name].dates.at(-1) ?? '',
}));

/** The field of the SDL that is the calling account: `lender`. */
export function accountField(name: InterfaceName): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The interfaces whose credentials another one rejects. */
export function othersThan(name: InterfaceName): InterfaceName[] {
  return interfaceNames.filter((other) => other !== name);
}
