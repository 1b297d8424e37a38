import type { LayoutWithPayloads } from '@deedwire/layout';
import { isOwnEvent } from '../event-versions.ts';
import type { Generated } from '../generated.ts';
import { commonFolder } from '../platform-folders.ts';
import { findFiles, readText } from '../workspace-files.ts';

/**
 * What the package of payloads of a service has of the platform: its code and its payloads, as they are in `webhook-contract`, which is not published, the
 * platform's entries in its lists, and the headers of deliveries. An entry of the application is written by hand there.
 */
export function composedPayloads({ names, interfaceNames, payloads }: LayoutWithPayloads): Generated {
  const sources = findFiles(`${commonFolder}/src/**/*.ts`).filter((path) => !/\/generated\/|\.test\.ts$/.test(path));
  const copies = sources.map((path) => [path.replace(commonFolder, payloads), readText(path)] as const);
  const own: Record<string, unknown> = JSON.parse(readText(`${commonFolder}/versions.json`));
  const audience = Object.keys(own).map((type) => [type, { interfaces: interfaceNames }] as const);
  return {
    files: new Map([
      ...copies,
      [
        `${payloads}/delivery-headers.json`,
        readText(`${commonFolder}/delivery-headers.json`)
          .replaceAll('{headerPrefix}', names.headerPrefix)
          .replaceAll('{userAgent}', names.userAgent),
      ],
      [`${payloads}/versions.json`, composeList(readText(`${payloads}/versions.json`), Object.entries(own))],
      [`${payloads}/event-types.json`, composeList(readText(`${payloads}/event-types.json`), audience)],
    ]),
    stale: findFiles(`${payloads}/src/*/*.ts`).filter((path) => isOwnEvent(path.split('/').at(-2) ?? '')),
  };
}

/** A list by event type, with the platform's entries in place of those that it has. */
export function composeList(text: string, own: readonly (readonly [type: string, value: unknown])[]): string {
  const further = Object.entries(JSON.parse(text)).filter(([type]) => !isOwnEvent(type));
  const entries = [...further, ...own].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}
