import type { Found } from '../change.ts';
import { compareMembers, describeDifference } from '../differences.ts';
import { childPointer } from '../json/json-value.ts';
import type { Manifest, RequestHeader, ResponseHeader } from './manifest.ts';
import { manifestRules } from './rules.ts';

export function compareErrors(found: Found, from: Manifest, to: Manifest): void {
  compareMembers(Object.entries(from.errors ?? {}), Object.entries(to.errors ?? {}), {
    removed: (code) => found(manifestRules.errorRemoved, pointerOf(code), `The error code ${code} was removed.`),
    added: (code) => found(manifestRules.errorAdded, pointerOf(code), `The error code ${code} was added.`),
    kept(code, before, now) {
      compareDescriptions(found, pointerOf(code), before, now);
      compareStatuses(found, `${pointerOf(code)}/status`, before.status, now.status);
    },
  });
}

function pointerOf(code: string): string {
  return childPointer('/errors', code);
}

type Statuses = Readonly<Record<string, number>>;

function compareStatuses(found: Found, pointer: string, from: Statuses, to: Statuses): void {
  const compare = (mediaType: string, before: number | null, now: number | null): void => {
    if (before === now) return;
    const rule = before === null ? manifestRules.statusAdded : manifestRules.statusChanged;
    const message = describeDifference('The status', before?.toString() ?? null, now?.toString() ?? null);
    found(rule, childPointer(pointer, mediaType), message);
  };
  compareMembers(Object.entries(from), Object.entries(to), {
    removed: (mediaType, status) => compare(mediaType, status, null),
    added: (mediaType, status) => compare(mediaType, null, status),
    kept: compare,
  });
}

/** By their names in lower case, because these are case-insensitive (RFC 9110, section 5.1). */
function headersIn<T>(section: string, headers: Readonly<Record<string, T>> = {}) {
  return Object.entries(headers).map(
    ([name, header]) => [name.toLowerCase(), { ...header, name, pointer: childPointer(section, name) }] as const,
  );
}

export function compareRequestHeaders(found: Found, from: Manifest, to: Manifest): void {
  const section = '/requestHeaders';
  compareMembers(headersIn(section, from.requestHeaders), headersIn(section, to.requestHeaders), {
    removed: (_, { name, pointer }) =>
      found(manifestRules.requestHeaderRemoved, pointer, `The header ${name} was removed.`),
    added(_, header) {
      const { rule, word } = necessity(header);
      found(rule, header.pointer, `The ${word} header ${header.name} was added.`);
    },
    kept(_, before, now) {
      compareDescriptions(found, before.pointer, before, now);
      if (before.required === now.required) return;
      const { rule, word } = necessity(now);
      found(rule, before.pointer, `The header ${before.name} is now ${word}.`);
    },
  });
}

function necessity({ required }: RequestHeader) {
  return required
    ? { rule: manifestRules.requestHeaderRequired, word: 'required' }
    : { rule: manifestRules.requestHeaderOptional, word: 'optional' };
}

export function compareResponseHeaders(found: Found, from: Manifest, to: Manifest): void {
  const section = '/responseHeaders';
  compareMembers(headersIn(section, from.responseHeaders), headersIn(section, to.responseHeaders), {
    removed: (_, { name, pointer }) =>
      found(manifestRules.responseHeaderRemoved, pointer, `The header ${name} was removed.`),
    added: (_, { name, pointer }) => found(manifestRules.responseHeaderAdded, pointer, `The header ${name} was added.`),
    kept(_, before, now) {
      compareDescriptions(found, before.pointer, before, now);
      compareCases(found, before.pointer, before.sent, now.sent);
      compareValues(found, before.pointer, before.value, now.value);
    },
  });
}

type Cases = ResponseHeader['sent'];

function compareCases(found: Found, pointer: string, from: Cases, to: Cases): void {
  const [before, now] = [printCases(from), printCases(to)];
  if (before === now) return;
  const rule = includesCases(to, from) ? manifestRules.responseHeaderAdded : manifestRules.responseHeaderRemoved;
  found(rule, `${pointer}/sent`, `It was sent ${before}. It is now sent ${now}.`);
}

function includesCases(cases: Cases, others: Cases): boolean {
  if (cases === 'always') return true;
  if (typeof cases === 'string' || typeof others === 'string') return false;
  return others.every((status) => cases.includes(status));
}

function printCases(cases: Cases): string {
  if (typeof cases === 'string') return cases;
  return `with ${[...new Set(cases)].toSorted((a, b) => a - b).join(', ')}`;
}

function compareValues(found: Found, pointer: string, from: string | undefined, to: string | undefined): void {
  if (from === to) return;
  const rule = from === undefined ? manifestRules.responseHeaderAdded : manifestRules.responseHeaderValueChanged;
  found(rule, `${pointer}/value`, describeDifference('The value', from ?? null, to ?? null));
}

/** @param pointer a JSON Pointer into the manifest */
export function compareDescriptions(
  found: Found,
  pointer: string,
  from: { readonly description?: string },
  to: { readonly description?: string },
): void {
  if (from.description !== to.description)
    found(manifestRules.descriptionChanged, `${pointer}/description`, 'The description was changed.');
}
