import { onlyIn } from '../differences.ts';
import { propertyPath, type Comparison, type Place } from './comparison.ts';
import { objectMember } from './conjunction.ts';
import { never, schemas, type Schema } from './schema-document.ts';
import {
  declaredProperties,
  dependentNames,
  dependentSchemas,
  otherPropertySchemas,
  patternSchemas,
  propertySchemas,
  requiredProperties,
} from './shape.ts';
import { isSlowPattern } from './slow-patterns.ts';

export function compareObjects(comparison: Comparison, place: Place): void {
  spendOnPatterns(comparison, place);
  compareProperties(comparison, place);
  compareRequired(comparison, place);
  compareOthers(comparison, place, `${place.path}.*`);
  comparePatterned(comparison, place);
  compareDependentSchemas(comparison, place);
  compareDependentNames(comparison, place);
  compareNames(comparison, place);
}

/** Each pattern of a side is matched with the names of both. */
function spendOnPatterns(comparison: Comparison, { from, to }: Place): void {
  const names = namesIn([...from, ...to], 'properties');
  for (const [{ budget }, all] of [
    [comparison.from, from],
    [comparison.to, to],
  ] as const) {
    const patterns = namesIn(all, 'patternProperties');
    budget.spend(names.length * patterns.length);
    for (const pattern of patterns) {
      const startMs = performance.now();
      if (isSlowPattern(pattern, names)) budget.failAtPattern(pattern);
      budget.spendTime(performance.now() - startMs);
    }
  }
}

function namesIn(all: readonly Schema[], keyword: string): string[] {
  return all.flatMap((schema) => Object.keys(objectMember(schema, keyword)));
}

function compareProperties(comparison: Comparison, { path, from, to }: Place): void {
  const [before, now] = [declaredProperties(from), declaredProperties(to)];
  for (const name of new Set([...before, ...now])) {
    const place = { path: propertyPath(path, name), from: propertySchemas(from, name), to: propertySchemas(to, name) };
    if (!before.has(name)) {
      const closed = place.from.includes(never);
      comparison.found(closed ? 'propertyAddedClosed' : 'propertyAdded', place.path, 'The property was added.');
      if (!closed && place.from.length > 0) comparison.compareLater(place);
    } else if (!now.has(name) && (place.to.length === 0 || place.to.includes(never))) {
      comparison.found('propertyRemoved', place.path, 'The property was removed.');
    } else {
      comparison.compareLater(place);
    }
  }
  compareForbidden(comparison, { path, from, to });
}

/** Compares the properties that an otherwise open object forbids: `properties: { name: false }`. */
function compareForbidden({ found }: Comparison, { path, from, to }: Place): void {
  const [before, now] = [forbiddenProperties(from), forbiddenProperties(to)];
  for (const name of onlyIn(now, before)) {
    if (propertySchemas(from, name).includes(never) || declaredProperties(from).has(name)) continue;
    found('propertyForbidden', propertyPath(path, name), 'The property is now forbidden.');
  }
  for (const name of onlyIn(before, now)) {
    if (propertySchemas(to, name).includes(never) || declaredProperties(to).has(name)) continue;
    found('objectOpened', propertyPath(path, name), 'The property is no longer forbidden.');
  }
}

function forbiddenProperties(all: readonly Schema[]): Set<string> {
  const names = all.flatMap((schema) => Object.keys(schema['properties'] ?? {}));
  const declared = declaredProperties(all);
  return new Set(names.filter((name) => !declared.has(name)));
}

function compareRequired({ found }: Comparison, { path, from, to }: Place): void {
  const [before, now] = [requiredProperties(from), requiredProperties(to)];
  for (const name of onlyIn(now, before)) {
    found('requiredAdded', propertyPath(path, name), 'The property is now required.');
  }
  for (const name of onlyIn(before, now)) {
    found('requiredRemoved', propertyPath(path, name), 'The property is no longer required.');
  }
}

/** Compares the schemas of undeclared properties, which are at `others`. */
function compareOthers(comparison: Comparison, { path, from, to }: Place, others: string): void {
  const [before, now] = [otherPropertySchemas(from), otherPropertySchemas(to)];
  const [wasClosed, closed] = [before.includes(never), now.includes(never)];
  if (!wasClosed && closed) comparison.found('objectClosed', path, 'Undeclared properties are no longer valid.');
  else if (wasClosed && !closed) comparison.found('objectOpened', path, 'Undeclared properties are now valid.');
  else if (!closed) comparison.compareLater({ path: others, from: before, to: now });
}

/** Compares `patternProperties`. If one side lacks a pattern, its schemas for undeclared properties apply to those names. */
function comparePatterned(comparison: Comparison, { path, from, to }: Place): void {
  const [patternsBefore, patternsNow] = [patternSchemas(from), patternSchemas(to)];
  for (const pattern of new Set([...patternsBefore.keys(), ...patternsNow.keys()])) {
    const before = patternsBefore.get(pattern) ?? otherPropertySchemas(from);
    const now = patternsNow.get(pattern) ?? otherPropertySchemas(to);
    const place = { path: `${path}[/${pattern}/]`, from: before, to: now };
    if (!patternsBefore.has(pattern) && !comparison.areSame(before, now)) {
      const rule = before.includes(never) ? 'propertyAddedClosed' : 'conditionAdded';
      comparison.found(rule, place.path, 'The name pattern was added.');
    } else if (!patternsNow.has(pattern) && !comparison.areSame(before, now)) {
      const rule = now.includes(never) ? 'propertyRemoved' : 'conditionRemoved';
      comparison.found(rule, place.path, 'The name pattern was removed.');
    }
    const inBoth = patternsBefore.has(pattern) && patternsNow.has(pattern);
    // An empty list allows every value. For an added or removed pattern, the rule above covers that and `false`.
    const comparable = before.length > 0 && now.length > 0 && !before.includes(never) && !now.includes(never);
    if (inBoth || comparable) comparison.compareLater(place);
    if (!inBoth) continue;
    const others = { from: withoutPattern(from, pattern), to: withoutPattern(to, pattern) };
    compareOthers(comparison, { path: place.path, ...others }, place.path);
  }
}

/** The schemas whose `additionalProperties` constrains properties with a name that the pattern of another schema matches. */
function withoutPattern(all: readonly Schema[], pattern: string): readonly Schema[] {
  return all.filter((schema) => !Object.hasOwn(objectMember(schema, 'patternProperties'), pattern));
}

function compareDependentSchemas(comparison: Comparison, { path, from, to }: Place): void {
  const [before, now] = [dependentSchemas(from), dependentSchemas(to)];
  for (const name of new Set([...before.keys(), ...now.keys()])) {
    const [old, next] = [before.get(name), now.get(name)];
    const trigger = JSON.stringify(name);
    if ((old ?? next)?.length === 0 && (old === undefined || next === undefined)) continue;
    if (old === undefined) comparison.found('conditionAdded', path, `A schema for objects with ${trigger} was added.`);
    else if (next === undefined)
      comparison.found('conditionRemoved', path, `A schema for objects with ${trigger} was removed.`);
    else comparison.compareLater({ path, from: old, to: next, nullCompared: true });
  }
}

function compareDependentNames({ found }: Comparison, { path, from, to }: Place): void {
  const [before, now] = [dependentNames(from), dependentNames(to)];
  for (const names of onlyIn(now, before)) found('conditionAdded', path, `The dependency of ${names} was added.`);
  for (const names of onlyIn(before, now)) found('conditionRemoved', path, `The dependency of ${names} was removed.`);
}

/** Compares `propertyNames`, which constrains names as texts. */
function compareNames(comparison: Comparison, { path, from, to }: Place): void {
  const [before, now] = [namesOf(from), namesOf(to)];
  if (before.length > 0 && now.length > 0)
    comparison.compareLater({ path: `${path}.{name}`, from: before, to: now, nullCompared: true });
  else if (now.length > 0) comparison.found('conditionAdded', path, 'Property names are now restricted.');
  else if (before.length > 0) comparison.found('conditionRemoved', path, 'Property names are no longer restricted.');
}

function namesOf(all: readonly Schema[]): Schema[] {
  return all.flatMap((schema) => schemas(schema['propertyNames']));
}
