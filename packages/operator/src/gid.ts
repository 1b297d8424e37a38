import {
  accountTypesOf,
  formatGid,
  gid,
  type GidTypeName,
  hasKeys,
  parseRecordGid,
  parseRecordId,
  readRecordKey,
  type Service,
  withArticles,
} from '@deedwire/core';
import { Argument, InvalidArgumentError, Option } from 'commander';
import { readOperatorConfig } from './config.ts';
import type { Shell } from './shell.ts';

/** What a command accepts. An account can be of two types, and so can what receives events. */
type GidTypes = readonly GidTypeName[];

export const subscriptionTypes = ['WebhookSubscription', 'WebhookListener'] as const satisfies GidTypes;

/** The argument of a verb: a global identifier, or its short form. */
export function gidArgument(shell: Shell, ...types: GidTypes): Argument {
  return new Argument('<gid>', `${withArticles(types)}: the global identifier or its number`).argParser((value) =>
    parse(shell, types, value),
  );
}

/** The argument of a verb: an account. */
export function accountArgument(shell: Shell): Argument {
  return new Argument(
    '<account>',
    'its global identifier, its number, or the id that the application gave it',
  ).argParser((value) => parseAccount(shell, value));
}

/** The same for an option. */
export function gidOption(shell: Shell, name: string, description: string, ...types: GidTypes): Option {
  return new Option(`--${name} <gid>`, description).argParser((value) => parse(shell, types, value));
}

/** The same for an account, which an application can have given an id. */
export function accountOption(shell: Shell, description: string): Option {
  return new Option('--account <id>', description).argParser((value: string) => parseAccount(shell, value));
}

/** The same for a record that events are about, whose id the application can have given. */
export function recordOption(shell: Shell, name: string, description: string, ...types: GidTypes): Option {
  return new Option(`--${name} <id>`, description).argParser((value: string) => parseRecord(shell, types, value));
}

/** What `audit list` shows as the subject of a change: a global identifier, its short form, a client id or a key id. */
export function subjectOption(shell: Shell, description: string): Option {
  return new Option('--subject <id>', description).argParser((value: string) => {
    const { namespace, type, number = '' } = shortOrLong.exec(value)?.groups ?? {};
    refuseNamespace(shell, namespace);
    if (type === undefined) return value;
    return `${ofWebhooks.includes(type) ? 'Webhook' : ''}${type}/${number}`;
  });
}

/** Types whose names begin with `Webhook`, without it. */
const ofWebhooks = ['Delivery', 'Event', 'Listener', 'Replay', 'Subscription'];

const shortOrLong = /^(?:gid:\/\/(?<namespace>[^/]*)\/)?(?:(?<type>\w+)\/)?(?<number>\d+)$/;

/**
 * Returns a global identifier, or the number alone if it can be of several types: the action looks for each of them.
 *
 * @throws {InvalidArgumentError} if it is of another type or namespace
 */
function parse(shell: Shell, types: GidTypes, value: string): string {
  const { namespace, type, number = '' } = shortOrLong.exec(value)?.groups ?? {};
  const { GID_NAMESPACE: own } = readOperatorConfig(shell);
  const id = parseRecordId<GidTypeName>(number);
  const [firstType, otherType] = types;
  const wanted = withArticles(types);
  if (id === null)
    throw new InvalidArgumentError(`Pass ${wanted}, for example gid://${own}/${firstType}/4711, or its number.`);
  refuseNamespace(shell, namespace);
  if (type === undefined)
    return firstType === undefined || otherType !== undefined ? id : formatGid(own, firstType, id);
  const found = types.find((name) => name === type || name === `Webhook${type}`);
  if (found === undefined) throw new InvalidArgumentError(`This is ${withArticles([type])}; pass ${wanted}.`);
  return formatGid(own, found, id);
}

/** As `parse`. A number, and every text that is no global identifier or short form, can be an id of the application: the action looks for both. */
function parseAccount(shell: Shell, value: string): string {
  const isTyped = value.startsWith('gid://') || shortOrLong.exec(value)?.groups?.['type'] !== undefined;
  return isTyped ? parse(shell, accountTypesOf(shell.service), value) : value;
}

const recordForms = /^(?:gid:\/\/(?<namespace>[^/]*)\/)?(?:(?<type>\w+)\/)?(?<id>.+)$/s;

/**
 * As `parse`. An id of the application can have any form, so one that is no global identifier, short form or number is returned as it is if
 * it can be of several types.
 */
function parseRecord(shell: Shell, types: GidTypes, value: string): string {
  const keyed = types.filter((type) => hasKeys(shell, type));
  const [keyedType, otherType] = keyed;
  const { namespace, type, id = '' } = recordForms.exec(value)?.groups ?? {};
  const isOfType = type !== undefined && keyed.includes(type);
  const isShortOrLong = value.startsWith('gid://') || isOfType || shortOrLong.test(value);
  if (keyedType === undefined || (isShortOrLong && !isOfType)) return parse(shell, types, value);
  refuseNamespace(shell, namespace);
  const { GID_NAMESPACE: own } = readOperatorConfig(shell);
  if (isOfType) {
    const key =
      parseRecordGid(own, type, `gid://${own}/${type}/${id}`) ?? (namespace === undefined ? readRecordKey(id) : null);
    if (key !== null) return gid(own, type, key);
    throw new InvalidArgumentError(
      `After gid://${own}/${type}/, pass the id of the record, of 1 to 200 bytes, percent-encoded.`,
    );
  }
  const key = readRecordKey(value);
  if (key === null) throw new InvalidArgumentError('The id of a record has 1 to 200 bytes.');
  return otherType === undefined ? gid(own, keyedType, key) : key;
}

function refuseNamespace(shell: Shell, namespace: string | undefined): void {
  const { GID_NAMESPACE: own } = readOperatorConfig(shell);
  if (namespace !== undefined && namespace !== own)
    throw new InvalidArgumentError(`Its namespace is ${namespace}, but GID_NAMESPACE is ${own}.`);
}

/** The short form of a global identifier, for a person. Every other text stays as it is. */
export function shortGid(service: Service, text: string): string {
  const { type = '', number } = /^gid:\/\/[^/]+\/(?:Webhook)?(?<type>\w+)\/(?<number>\d+)$/.exec(text)?.groups ?? {};
  if (number === undefined) return text;
  // A number alone would not say whether it is of this type or of another one.
  return type === 'Listener' || accountTypesOf(service).includes(type) ? `${type}/${number}` : number;
}
