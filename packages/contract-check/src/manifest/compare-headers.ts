import { describeDifference } from '../describe-difference.ts';
import { childPointer } from '../json/json-value.ts';
import { compareDescriptions, type Found } from './found.ts';
import type { Manifest, RequestHeader, ResponseHeader } from './manifest.ts';
import { matchMembers } from './match-members.ts';
import { manifestRules } from './rules.ts';

// Header names are case-insensitive (RFC 9110, section 5.1).
const lowerCase = (name: string): string => name.toLowerCase();
const requestPointer = (name: string): string => childPointer('/requestHeaders', name);
const responsePointer = (name: string): string => childPointer('/responseHeaders', name);

export function compareRequestHeaders(
  found: Found,
  from: Manifest['requestHeaders'],
  to: Manifest['requestHeaders'],
): void {
  matchMembers(
    from,
    to,
    {
      removed: (name) =>
        found(manifestRules.requestHeaderRemoved, requestPointer(name), `The header ${name} was removed.`),
      added(name, header) {
        const { rule, word } = necessity(header);
        found(rule, requestPointer(name), `The ${word} header ${name} was added.`);
      },
      kept(name, before, now) {
        compareDescriptions(found, requestPointer(name), before, now);
        if (before.required === now.required) return;
        const { rule, word } = necessity(now);
        found(rule, requestPointer(name), `The header ${name} is now ${word}.`);
      },
    },
    lowerCase,
  );
}

function necessity({ required }: RequestHeader) {
  return required
    ? { rule: manifestRules.requestHeaderRequired, word: 'required' }
    : { rule: manifestRules.requestHeaderOptional, word: 'optional' };
}

export function compareResponseHeaders(
  found: Found,
  from: Manifest['responseHeaders'],
  to: Manifest['responseHeaders'],
): void {
  matchMembers(
    from,
    to,
    {
      removed: (name) =>
        found(manifestRules.responseHeaderRemoved, responsePointer(name), `The header ${name} was removed.`),
      added: (name) => found(manifestRules.responseHeaderAdded, responsePointer(name), `The header ${name} was added.`),
      kept(name, before, now) {
        compareDescriptions(found, responsePointer(name), before, now);
        compareCases(found, responsePointer(name), before.sent, now.sent);
        compareValues(found, responsePointer(name), before.value, now.value);
      },
    },
    lowerCase,
  );
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
