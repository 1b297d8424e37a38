import { fileNotice, report, type Change, type Notice, type Report } from '../change.ts';
import { describeDifference } from '../differences.ts';
import { TooManyStepsError, withinStack } from '../input-error.ts';
import { childPointer, isJsonObject, type JsonValue } from '../json/json-value.ts';
import { remembered } from '../remembered.ts';
import type { SourceText } from '../text-file.ts';
import { alternativesOf } from './alternatives.ts';
import type { SharedSteps } from './budget.ts';
import { coinductive } from './coinduction.ts';
import { comparePlace } from './compare-place.ts';
import { effectOf, type Comparison, type JsonSchemaOptions, type Place, type RuleName } from './comparison.ts';
import { keywordValues, objectMember, show } from './conjunction.ts';
import { dialectRule } from './dialects.ts';
import { innerSchemas, isDocumentation, naming } from './keywords.ts';
import { locateChange } from './locate-change.ts';
import { jsonSchemaRules } from './rules.ts';
import {
  never,
  readSchemaDocument,
  referenceKeywords,
  schemas,
  type Schema,
  type SchemaDocument,
} from './schema-document.ts';
import { numbering, writtenAlike } from './written-alike.ts';

type FoundAt = (place: Place, ...found: Parameters<Comparison['found']>) => void;
type FoundChange = readonly [change: Change, alternatives: Iterable<string>];

/**
 * Compares two JSON Schemas. A schema may refer to files next to it if its source has `readRelative`.
 *
 * @throws {InputError} when a schema is invalid.
 */
export function compareJsonSchemas(from: SourceText, to: SourceText, options: JsonSchemaOptions): Report {
  return compareInSteps(from, to, options, { left: Infinity });
}

/**
 * Like `compareJsonSchemas`, with a limit for several comparisons together.
 *
 * @param steps what is left of it
 */
export function compareInSteps(
  from: SourceText,
  to: SourceText,
  options: JsonSchemaOptions,
  steps: SharedSteps,
): Report {
  const changes: FoundChange[] = [];
  const before = withinStack(from.file, () => readSchemaDocument(from, true, steps));
  const now = withinStack(to.file, () => readSchemaDocument(to, false, steps));
  const notices = [...before.notices, ...now.notices];
  const found: FoundAt = (place, rule, path, message, alternatives = new Set([''])) => {
    const [{ id }, located] = [jsonSchemaRules[rule], locateChange(before, now, place, path)];
    const { verdict, why } = effectOf(jsonSchemaRules[rule], options.direction);
    changes.push([{ verdict, rule: id, coordinate: path, message, why, ...located }, alternatives]);
    if (rule !== 'unknownKeywordChanged') return;
    const notice = `The keyword ${message.split(' ', 1)[0]} is unknown, so its effect on values was not compared.`;
    notices.push({ location: located.location, message: notice });
  };
  const compareAll = (): void => {
    const start = { path: '$', from: before.root, to: now.root };
    compareIdentities(before, now, (...change) => found(start, ...change));
    const places = [start, ...comparedDefinitions(before, now, found)];
    if (!onlyDefines(before)) notices.push(...unreachedNotices(before, now));
    const sides = { from: before, to: now, closedOutputs: options.closedOutputs ?? false };
    comparePlaces(sides, places, found);
    if (!before.refHidesSiblings && !now.refHidesSiblings) return;
    // Drafts up to 7 ignore what is beside a `$ref`, but authors mean it, and validators such as Ajv apply it.
    const all = { refHidesSiblings: false };
    comparePlaces({ ...sides, from: { ...before, ...all }, to: { ...now, ...all } }, places, found);
  };
  withinStack(to.file, compareAll, TooManyStepsError);
  return report(namingAlternatives(changes), notices);
}

/** One change for all that are alike. It names three of the alternatives that it concerns, if it concerns only such. */
function namingAlternatives(found: readonly FoundChange[]): Change[] {
  const alike = Map.groupBy(found, ([change]) => `${change.rule}\n${change.coordinate}\n${change.message}`);
  return [...alike.values()].flatMap((group) => {
    const names = [...new Set(group.flatMap(([, alternatives]) => [...alternatives]))];
    if (names.includes('')) return group.map(([change]) => change);
    const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
    const suffix = ` Alternative${names.length === 1 ? '' : 's'}: ${names.slice(0, 3).join(', ')}${more}.`;
    return group.map(([change]) => ({ ...change, message: `${change.message}${suffix}` }));
  });
}

function compareIdentities(from: SchemaDocument, to: SchemaDocument, found: Comparison['found']): void {
  const [old = {}, next = {}] = [from.root[0], to.root[0]];
  // Draft 4 calls the address `id`.
  for (const keyword of ['$schema', '$id', 'id']) {
    const [before, now] = [show(keywordValues([old], keyword)), show(keywordValues([next], keyword))];
    if (before === now) continue;
    const addressRule = before === null ? 'identityAdded' : 'identityChanged';
    const rule = keyword === '$schema' ? dialectRule(from, to) : addressRule;
    found(rule, '$', describeDifference(keyword, before, now));
  }
}

/** The definitions of a schema that only defines others. Each of them is compared as a root is. */
function comparedDefinitions(from: SchemaDocument, to: SchemaDocument, found: FoundAt): Place[] {
  const [before, now] = [onlyDefines(from) ? definitionsIn(from) : new Map(), definitionsIn(to)];
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((path) => {
    const place = { path, from: schemas(before.get(path)), to: schemas(now.get(path)) };
    if (!now.has(path)) found(place, 'definitionRemoved', path, 'The definition was removed.');
    else if (before.has(path)) return [place];
    else if (onlyDefines(from) && onlyDefines(to)) found(place, 'definitionAdded', path, 'The definition was added.');
    return [];
  });
}

/** What it takes to compare two places of which it is not known whether they are the same: about 50 µs. */
const stepsOfPair = 20;

type Sides = Pick<Comparison, 'from' | 'to' | 'closedOutputs'>;

/** Compares places and all places below them. Compares each pair of schemas once, so that circular schemas terminate. */
function comparePlaces(sides: Sides, starts: readonly Place[], found: FoundAt): void {
  const numberOf = numbering();
  const keyOf = ({ from, to, nullCompared = false }: Place): string =>
    `${from.map(numberOf).join(',')}|${to.map(numberOf).join(',')}|${nullCompared}`;
  const shared = {
    ...sides,
    areWrittenAlike: writtenAlike(sides.from, sides.to, 'ignored'),
    alternativesOf: remembered(alternativesOf, (...[document, all]) => [document, ...all].map(numberOf).join(',')),
  };
  const areAlike = writtenAlike(sides.from, sides.to, 'compared');
  // Most places of most comparisons. Below them, there is no change to be found.
  const isUnchanged = ({ from, to }: Place): boolean =>
    sides.from.refHidesSiblings === sides.to.refHidesSiblings &&
    from.length === to.length &&
    from.every((schema, index) => areAlike(schema, to[index] ?? never));
  const isSame = coinductive<Place>(keyOf, (place, holds) => {
    for (const { budget } of [sides.from, sides.to]) budget.spend(stepsOfPair);
    let same = true;
    const foundInside = (rule: RuleName): void => {
      if (rule !== 'documentationChanged') same = false;
    };
    const isStillSame = (other: Place): boolean => same && (isUnchanged(other) || holds(other));
    comparePlace(
      {
        ...shared,
        isSame: isStillSame,
        areSame: (from, to) => isStillSame({ path: place.path, from, to }),
        compareLater(other) {
          same = isStillSame(other);
        },
        found: foundInside,
        foundDialect: foundInside,
      },
      place,
    );
    return same;
  });
  const places = new Map<string, Place>();
  const dialectChanges = new Set<string>();
  let current: Place = { path: '', from: [], to: [], alternatives: new Set(['']) };
  const comparison: Comparison = {
    ...shared,
    isSame: (place) => isUnchanged(place) || isSame(place),
    areSame: (from, to) => comparison.isSame({ path: current.path, from, to }),
    found: (rule, path, message, alternatives = current.alternatives) =>
      found(current, rule, path, message, alternatives),
    foundDialect(rule, path, message) {
      if (dialectChanges.has(message)) return;
      dialectChanges.add(message);
      found(current, rule, path, message);
    },
    compareLater(each) {
      if (isUnchanged(each)) return;
      const place = { alternatives: current.alternatives, ...each };
      const key = keyOf(place);
      const same = places.get(key) ?? place;
      places.set(key, same);
      if (same.path === place.path) for (const name of place.alternatives ?? []) same.alternatives?.add(name);
    },
  };
  for (const start of starts) comparison.compareLater(start);
  // compareLater appends to the map during the loop.
  for (const place of places.values()) {
    current = place;
    for (const { budget } of [sides.from, sides.to]) budget.path = place.path;
    comparePlace(comparison, place);
  }
}

/** The definitions in the root, by the reference to them: `#/$defs/money`. */
function definitionsIn({ root: [root = {}] }: SchemaDocument): ReadonlyMap<string, JsonValue> {
  return new Map(
    ['$defs', 'definitions'].flatMap((keyword) =>
      Object.entries(objectMember(root, keyword)).map(([name, value]) => [childPointer(`#/${keyword}`, name), value]),
    ),
  );
}

/** Whether the root allows every value, so that the definitions in it are all that a schema promises. */
function onlyDefines({ root }: SchemaDocument): boolean {
  return root
    .flatMap((schema) => Object.keys(schema))
    .every((keyword) => naming.has(keyword) || isDocumentation(keyword));
}

/** States which definitions changed that the root does not reach. Other files can refer to them. */
function unreachedNotices(from: SchemaDocument, to: SchemaDocument): Notice[] {
  const now = definitionsIn(to);
  const areAlike = writtenAlike(from, to, 'ignored');
  const reached = reachedIn(from);
  const changed = [...definitionsIn(from)].filter(([path, old]) => {
    const next = now.get(path);
    if (!isJsonObject(old) || reached.has(old)) return false;
    return !isJsonObject(next) || !areAlike(old, next);
  });
  const paths = changed.map(([path]) => path).join(', ');
  const message = `The root of the schema does not reach ${paths}, so changes there were not compared.`;
  return changed.length === 0 ? [] : [fileNotice(to.file, message)];
}

function reachedIn(document: SchemaDocument): ReadonlySet<Schema> {
  const found = new Set<Schema>(document.root);
  // Appended to during the loop.
  for (const schema of found) {
    for (const keyword of referenceKeywords) for (const each of document.target(schema, keyword) ?? []) found.add(each);
    for (const [keyword, value] of Object.entries(schema))
      for (const [, inner] of naming.has(keyword) ? [] : innerSchemas(keyword, value))
        if (isJsonObject(inner)) found.add(inner);
  }
  return found;
}
