import { isDeepStrictEqual } from 'node:util';
import { changeBy, locatedReport, type Report, type Rule, type UnlocatedChange } from '../change.ts';
import { describeDifference } from '../describe-difference.ts';
import type { SourceText } from '../text-file.ts';
import { readApiReport, type ApiDeclaration } from './api-report.ts';
import { flowOf, namesOf, type Flow } from './flow.ts';
import { normalized, relateSignatures, type SignatureRelation } from './relate-signatures.ts';
import { apiRules } from './rules.ts';
import { isCallable, parseSignature, withNames, type Names } from './signature.ts';

export interface ApiOptions {
  /** The unions whose users handle types that they do not know. */
  readonly openUnions?: readonly string[];
}

/** GraphQL Code Generator adds it to an enum whose clients must handle values that they do not know. */
const futureValue = "'%future added value'";

/**
 * Compares two API reports of an entry point.
 *
 * @throws {InputError} when a report is invalid.
 */
export function compareApiReports(from: SourceText, to: SourceText, { openUnions = [] }: ApiOptions = {}): Report {
  const [old, next] = [readApiReport(from), readApiReport(to)];
  const [before, now] = [old.declarations, next.declarations];
  const changes: UnlocatedChange[] = [];
  const all = new Set([...before.keys(), ...now.keys()]);
  const changed = [...all].filter((name) => !isDeepStrictEqual(before.get(name), now.get(name)));
  const flow = flowOf(changed.length === 0 ? new Map() : before);
  for (const name of changed) {
    const [declared, redeclared] = [before.get(name), now.get(name)];
    if (declared !== undefined && redeclared !== undefined)
      changes.push(...compareDeclaration(name, declared, redeclared, openUnions, flow));
    else if (declared === undefined)
      changes.push(changeBy(apiRules.declarationAdded, name, 'The declaration was added.'));
    else changes.push(changeBy(apiRules.declarationRemoved, name, 'The declaration was removed.'));
  }
  return locatedReport(changes, old.locator, next.locator);
}

function compareDeclaration(
  name: string,
  from: ApiDeclaration,
  to: ApiDeclaration,
  openUnions: readonly string[],
  flow: Flow,
): UnlocatedChange[] {
  const found: UnlocatedChange[] = [];
  const isInput = from.isInput || to.isInput || isImplemented(from, flow.received.has(name));
  const used = retargeted(from, to);
  const [names, namesNow] = [namesIn(from, used), namesIn(to, used)];
  const relate = (old: string, now: string): SignatureRelation => relateSignatures(old, now, [names, namesNow]);
  const relation = from.kind === to.kind ? relate(from.signature, to.signature) : 'other';
  if (relation !== 'same') {
    const [before, now] = [from, to].map(({ kind, signature }) => `${kind} ${signature}`.trimEnd());
    const message = describeDifference('The declaration', before ?? null, now ?? null);
    found.push(changeBy(signatureRule(relation, isInput, apiRules.declarationChanged), name, message));
  }
  found.push(...compareUse(name, from, to, used));
  if (from.isNominal === false && to.isNominal === true)
    found.push(
      changeBy(apiRules.classNominal, name, 'The class has a private or protected member for the first time.'),
    );
  found.push(...compareMembers(name, from, to, isInput, flow.passed.has(name), relate));
  const isOpen = openUnions.includes(name) || (from.union.has(futureValue) && to.union.has(futureValue));
  const added = isOpen ? apiRules.openUnionMemberAdded : apiRules.unionMemberAdded;
  // A declaration that becomes a union has changed as a whole.
  if (from.union.size === 0 || to.union.size === 0) return found;
  const [before, now] = [
    new Map([...from.union].map((type) => [normalized(type, names), type])),
    new Map([...to.union].map((type) => [normalized(type, namesNow), type])),
  ];
  for (const [key, type] of now) if (!before.has(key)) found.push(changeBy(added, name, `${type} was added.`));
  for (const [key, type] of before)
    if (!now.has(key)) found.push(changeBy(apiRules.unionMemberRemoved, name, `${type} was removed.`));
  return found;
}

/** The names that stand for something else than before. A name of one side only is a change of the text. */
function retargeted(from: ApiDeclaration, to: ApiDeclaration): string[] {
  const [before, now] = [from.references, to.references];
  if (before === null || now === null) return [];
  const [used, stillUsed] = [from, to].map((each) => new Set(namesOf(each).map(({ text }) => text)));
  return [...new Set([...before.keys(), ...now.keys()])].filter(
    (name) => before.get(name) !== now.get(name) && used?.has(name) === true && stillUsed?.has(name) === true,
  );
}

/** What the names in a declaration stand for, without those that are compared on their own. */
function namesIn({ references, signature }: ApiDeclaration, without: readonly string[]): Names {
  const known = [...(references ?? [])].filter(([name]) => !without.includes(name));
  const { typeParameters } = parseSignature(signature);
  return withNames(
    new Map(known),
    typeParameters.map(({ name }) => String(name)),
  );
}

/** Compares what the text of a declaration does not show. */
function compareUse(
  name: string,
  from: ApiDeclaration,
  to: ApiDeclaration,
  names: readonly string[],
): UnlocatedChange[] {
  const found: UnlocatedChange[] = [];
  if (from.isTypeOnly === false && to.isTypeOnly === true)
    found.push(changeBy(apiRules.declarationChanged, name, 'The declaration can only be used as a type.'));
  if (from.isTypeOnly === true && to.isTypeOnly === false)
    found.push(changeBy(apiRules.declarationAdded, name, 'The declaration can also be used as a value.'));
  for (const each of names) {
    const [before = null, now = null] = [from.references?.get(each), to.references?.get(each)];
    found.push(changeBy(apiRules.declarationChanged, name, describeDifference(`The target of ${each}`, before, now)));
  }
  return found;
}

/** Whether only callers create values of a type: nothing that is exported returns it, and it has functions, so it is no data. */
function isImplemented({ kind, signature, members }: ApiDeclaration, isReceived: boolean): boolean {
  if (isReceived || (kind !== 'type' && kind !== 'interface')) return false;
  return [signature, ...Array.from(members.values(), (member) => member.signature)].some((text) =>
    parseSignature(text).parts.some(isCallable),
  );
}

function compareMembers(
  name: string,
  from: ApiDeclaration,
  to: ApiDeclaration,
  isInput: boolean,
  isPassed: boolean,
  relate: (old: string, now: string) => SignatureRelation,
): UnlocatedChange[] {
  return [...new Set([...from.members.keys(), ...to.members.keys()])].flatMap((path) => {
    const [old, now] = [from.members.get(path), to.members.get(path)];
    const change = (rule: Rule, message: string): UnlocatedChange => changeBy(rule, `${name}.${path}`, message);
    if (path === 'constructor' && from.kind === 'class') {
      const rule = constructorRule(from, old?.signature ?? null, now?.signature ?? null, relate);
      const [before, after] = [old, now].map((each) => each?.signature ?? null);
      return rule === null ? [] : [change(rule, describeDifference('The constructor', before ?? null, after ?? null))];
    }
    if (now === undefined) return [change(apiRules.memberRemoved, 'The member was removed.')];
    if (old === undefined) {
      // The members of a new object type do not count: the object itself is the added member.
      const isNested = from.members.has(path.slice(0, path.lastIndexOf('.'))) || !path.includes('.');
      if (!isNested) return [];
      const isRequired = (isInput && !now.optional) || isAbstract(now.signature);
      return [change(isRequired ? apiRules.requiredMemberAdded : apiRules.memberAdded, 'The member was added.')];
    }
    const found: UnlocatedChange[] = [];
    // A subclass cannot replace a property by a method.
    const isProperty = from.kind === 'class' && isFunctionType(old.signature) !== isFunctionType(now.signature);
    const relation = isProperty ? 'other' : relate(old.signature, now.signature);
    if (relation !== 'same') {
      const rule = signatureRule(relation, isInput || isAssignable(old.signature), apiRules.memberChanged);
      found.push(change(rule, describeDifference('The member', old.signature, now.signature)));
    }
    if (!old.optional && now.optional)
      found.push(change(isPassed ? apiRules.memberLoosened : apiRules.memberChanged, 'The member became optional.'));
    if (old.optional && !now.optional)
      found.push(change(isInput ? apiRules.memberChanged : apiRules.memberGuaranteed, 'The member became required.'));
    return found;
  });
}

/**
 * The rule for the constructor of a class. Null if it is the same, or if callers could not call it before.
 *
 * @param now null for the constructor of the class that it extends, or for one without parameters
 */
function constructorRule(
  { signature, isNominal }: ApiDeclaration,
  old: string | null,
  now: string | null,
  relate: (old: string, now: string) => SignatureRelation,
): Rule | null {
  if (old === now || old?.startsWith('private ') === true) return null;
  // Older reports do not list private constructors.
  if (old === null && isNominal === null && now?.startsWith('private ') === true) return null;
  const isInherited = /(?:^|[ >])extends /.test(signature);
  if (isInherited && (old === null || now === null)) return apiRules.memberChanged;
  const relation = relate(old ?? '()', now ?? '()');
  return relation === 'same' ? null : signatureRule(relation, false, apiRules.memberChanged);
}

function isAbstract(signature: string): boolean {
  return /^(?:protected )?abstract /.test(signature);
}

/** Whether callers can assign a function of their own to a member. */
function isAssignable(signature: string): boolean {
  return isFunctionType(signature) && !parseSignature(signature).modifiers.includes('readonly');
}

function isFunctionType(signature: string): boolean {
  return parseSignature(signature).parts.some(({ type }) => type === 'TSFunctionType');
}

/** The rule for a changed signature. `rest` is the one for a change after which code that uses it may not compile. */
function signatureRule(relation: Exclude<SignatureRelation, 'same'>, isInput: boolean, rest: Rule): Rule {
  // A function that callers pass may rely on a parameter.
  if (relation === 'other' || (relation === 'parameterLoosened' && isInput)) return rest;
  return apiRules[relation];
}
