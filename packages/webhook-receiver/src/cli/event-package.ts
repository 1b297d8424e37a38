import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EventPackage } from '../events.ts';
import { field, messageOf } from '../field.ts';
import { UsageError } from './shell.ts';

/** A package of payloads, as `--events` names it. */
export interface InstalledEvents extends EventPackage {
  /** The version that a subscription pins if it names none. Undefined for an unknown type. */
  readonly currentVersion: (type: string) => string | undefined;
  /** The body with its fields in the order of the contract. Null if the contract does not know it. */
  readonly order: (type: string, version: string, value: object) => string | null;
  /** `<type>/<version>` → the body in its AsyncAPI documents. */
  readonly examples: ReadonlyMap<string, { readonly data: object }>;
}

/** @param name of a package that is installed in the current folder, or a folder with one */
export async function loadEvents(name: string): Promise<InstalledEvents> {
  const isFolder = isAbsolute(name) || name.startsWith('.');
  try {
    const manifest = isFolder
      ? join(resolve(name), 'package.json')
      : createRequire(join(process.cwd(), 'package.json')).resolve(`${name}/package.json`);
    const folder = dirname(manifest);
    const own: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
    // By its own name, a package resolves its exports.
    const entry = createRequire(manifest).resolve(String(field(own, 'name')));
    const loaded: unknown = await import(pathToFileURL(entry).href);
    if (!isEventPackage(loaded)) throw new TypeError('it exports no parseWebhookBody.');
    const { parseWebhookBody, parsedEventNames } = loaded;
    return {
      parseWebhookBody,
      parsedEventNames,
      currentVersion: (type) => currentVersion(field(loaded, 'currentVersion'), type),
      order: (type, version, value) => ordered(field(loaded, 'findEventVersion'), type, version, value),
      examples: readExamples(join(folder, 'asyncapi')),
    };
  } catch (error) {
    throw new UsageError(`--events: ${name} cannot be loaded: ${messageOf(error).split('\n', 1).join()}`, {
      cause: error,
    });
  }
}

function isEventPackage(loaded: unknown): loaded is EventPackage {
  return ['parseWebhookBody', 'parsedEventNames'].every((name) => typeof field(loaded, name) === 'function');
}

function currentVersion(find: unknown, type: string): string | undefined {
  try {
    return typeof find === 'function' ? String(find(type)) : undefined;
  } catch {
    // It has no current version.
    return undefined;
  }
}

function ordered(find: unknown, type: string, version: string, value: object): string | null {
  const body: unknown = typeof find === 'function' ? field(find(type, version), 'body') : undefined;
  const parse = field(body, 'safeParse');
  if (typeof parse !== 'function') return null;
  const parsed: unknown = parse.call(body, value);
  return field(parsed, 'success') === true ? JSON.stringify(field(parsed, 'data')) : null;
}

function readExamples(folder: string): Map<string, { data: object }> {
  const examples = new Map<string, { data: object }>();
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.json'))) {
    const document: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    for (const message of Object.values(Object(field(field(document, 'components'), 'messages')))) {
      const payload = field(field(field(message, 'examples'), '0'), 'payload');
      const data = field(payload, 'data');
      if (typeof data === 'object' && data !== null)
        examples.set(`${String(field(payload, 'type'))}/${String(field(payload, 'version'))}`, { data });
    }
  }
  return examples;
}
