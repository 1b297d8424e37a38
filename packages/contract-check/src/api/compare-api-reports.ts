import { isDeepStrictEqual } from 'node:util';
import { locatedReport, type Report, type Rule } from '../change.ts';
import { compareMembers as compareByName, describeDifference } from '../differences.ts';
import type { SourceText } from '../text-file.ts';
import { readApiReport, type ApiDeclaration } from './api-report.ts';
import { normalized, relateSignatures, type SignatureRelation } from './relate-signatures.ts';
import { apiRules } from './rules.ts';
import { isCallable, namesIn, parseSignature, withNames, type Names } from './signature.ts';

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
  const flow = flowOf(isDeepStrictEqual(before, now) ? new Map() : before);
  return locatedReport(old.locator, next.locator, (found) =>
    compareByName(before, now, {
      removed: (name) => found(apiRules.declarationRemoved, name, 'The declaration was removed.'),
      added: (name) => found(apiRules.declarationAdded, name, 'The declaration was added.'),
      kept(name, declared, redeclared) {
        if (isDeepStrictEqual(declared, redeclared)) return;
        const used = retargeted(declared, redeclared);
        const names = [namesAround(declared, used), namesAround(redeclared, used)] as const;
        const comparison: Comparison = {
          from: declared,
          to: redeclared,
          isInput: declared.isInput || redeclared.isInput || isImplemented(declared, flow.received.has(name)),
          relate: (signature, signatureNow) => relateSignatures(signature, signatureNow, names),
          found: (rule, message, path) => found(rule, path === undefined ? name : `${name}.${path}`, message),
        };
        compareDeclaration(comparison);
        compareUse(comparison, used);
        compareMembers(comparison, flow.passed.has(name));
        compareUnion(comparison, names, openUnions.includes(name));
      },
    }),
  );
}

/** The context of the comparison of one declaration. */
interface Comparison {
  readonly from: ApiDeclaration;
  readonly to: ApiDeclaration;
  /** Whether callers pass values of this type. */
  readonly isInput: boolean;
  readonly relate: (from: string, to: string) => SignatureRelation;
  /** Records a change of the declaration, or of the member at a path. */
  readonly found: (rule: Rule, message: string, path?: string) => void;
}

function compareDeclaration({ from, to, isInput, relate, found }: Comparison): void {
  const relation = from.kind === to.kind ? relate(from.signature, to.signature) : 'other';
  const [before = null, now = null] = [from, to].map(({ kind, signature }) => `${kind} ${signature}`.trimEnd());
  if (relation !== 'same')
    found(
      signatureRule(relation, isInput, apiRules.declarationChanged),
      describeDifference('The declaration', before, now),
    );
  if (from.isNominal === false && to.isNominal === true)
    found(apiRules.classNominal, 'The class has a private or protected member for the first time.');
}

function compareUnion({ from, to, found }: Comparison, names: readonly [Names, Names], isListed: boolean): void {
  // A declaration that becomes a union has changed as a whole.
  if (from.union.size === 0 || to.union.size === 0) return;
  const isOpen = isListed || (from.union.has(futureValue) && to.union.has(futureValue));
  const added = isOpen ? apiRules.openUnionMemberAdded : apiRules.unionMemberAdded;
  const before = [...from.union].map((type) => [normalized(type, names[0]), type] as const);
  const now = [...to.union].map((type) => [normalized(type, names[1]), type] as const);
  compareByName(before, now, {
    removed: (_, type) => found(apiRules.unionMemberRemoved, `${type} was removed.`),
    added: (_, type) => found(added, `${type} was added.`),
    kept: () => {},
  });
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
function namesAround({ references, signature }: ApiDeclaration, without: readonly string[]): Names {
  const known = [...(references ?? [])].filter(([name]) => !without.includes(name));
  const declared = parseSignature(signature).typeParameters.map(({ name }) => String(name));
  return withNames(new Map(known), declared);
}

/** Compares what the text of a declaration does not show. `names` are those that stand for something else than before. */
function compareUse({ from, to, found }: Comparison, names: readonly string[]): void {
  if (from.isTypeOnly === false && to.isTypeOnly === true)
    found(apiRules.declarationChanged, 'The declaration can only be used as a type.');
  if (from.isTypeOnly === true && to.isTypeOnly === false)
    found(apiRules.declarationAdded, 'The declaration can also be used as a value.');
  for (const each of names) {
    const [before = null, now = null] = [from.references?.get(each), to.references?.get(each)];
    found(apiRules.declarationChanged, describeDifference(`The target of ${each}`, before, now));
  }
}

/** Whether only callers create values of a type: nothing that is exported returns it, and it has functions, so it is no data. */
function isImplemented({ kind, signature, members }: ApiDeclaration, isReceived: boolean): boolean {
  if (isReceived || (kind !== 'type' && kind !== 'interface')) return false;
  return [signature, ...Array.from(members.values(), (member) => member.signature)].some((text) =>
    parseSignature(text).parts.some(isCallable),
  );
}

/** @param isPassed whether callers only pass values of this type */
function compareMembers(comparison: Comparison, isPassed: boolean): void {
  const { from, to, isInput, relate, found } = comparison;
  for (const path of new Set([...from.members.keys(), ...to.members.keys()])) {
    const [old, now] = [from.members.get(path), to.members.get(path)];
    if (path === 'constructor' && from.kind === 'class') {
      compareConstructors(comparison, old?.signature ?? null, now?.signature ?? null);
    } else if (now === undefined) {
      found(apiRules.memberRemoved, 'The member was removed.', path);
    } else if (old === undefined) {
      // The members of a new object type do not count: the object itself is the added member.
      const isNested = from.members.has(path.slice(0, path.lastIndexOf('.'))) || !path.includes('.');
      const isRequired = (isInput && !now.optional) || /^(?:protected )?abstract /.test(now.signature);
      const rule = isRequired ? apiRules.requiredMemberAdded : apiRules.memberAdded;
      if (isNested) found(rule, 'The member was added.', path);
    } else {
      // A subclass cannot replace a property by a method.
      const isProperty = from.kind === 'class' && isFunctionType(old.signature) !== isFunctionType(now.signature);
      const relation = isProperty ? 'other' : relate(old.signature, now.signature);
      if (relation !== 'same') {
        const rule = signatureRule(relation, isInput || isAssignable(old.signature), apiRules.memberChanged);
        found(rule, describeDifference('The member', old.signature, now.signature), path);
      }
      if (!old.optional && now.optional)
        found(isPassed ? apiRules.memberLoosened : apiRules.memberChanged, 'The member became optional.', path);
      if (old.optional && !now.optional)
        found(isInput ? apiRules.memberChanged : apiRules.memberGuaranteed, 'The member became required.', path);
    }
  }
}

/** `old` and `now` are null for an inherited or a bare constructor. A private one was not callable. */
function compareConstructors({ from, relate, found }: Comparison, old: string | null, now: string | null): void {
  if (old === now || old?.startsWith('private ') === true) return;
  // Older reports do not list private constructors.
  if (old === null && from.isNominal === null && now?.startsWith('private ') === true) return;
  const isInherited = /(?:^|[ >])extends /.test(from.signature) && (old === null || now === null);
  const relation = isInherited ? 'other' : relate(old ?? '()', now ?? '()');
  if (relation === 'same') return;
  const rule = signatureRule(relation, false, apiRules.memberChanged);
  found(rule, describeDifference('The constructor', old, now), 'constructor');
}

/** Whether callers can assign their own function to a member. */
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

/**
 * Finds the names of the declarations whose values callers receive (`received`), and of those whose values they pass and never
 * receive (`passed`). Follows values through signatures. Exported values and results of functions reach the caller. A parameter list
 * changes the direction, and one inside it changes it again: callers receive the arguments of their own functions.
 */
function flowOf(declarations: ReadonlyMap<string, ApiDeclaration>) {
  // `Options` in a signature can be `first.Options` or `second.Options`, of two files.
  const named = Map.groupBy(declarations.keys(), (name) => name.slice(name.lastIndexOf('.') + 1));
  const received = new Set<string>();
  const passed = new Set<string>();
  const pending: { declaration: ApiDeclaration; isReceived: boolean }[] = [];

  function reach(name: string, isReceived: boolean): void {
    const reached = isReceived ? received : passed;
    const declaration = declarations.get(name);
    if (declaration === undefined || reached.has(name)) return;
    reached.add(name);
    pending.push({ declaration, isReceived });
  }

  for (const [name, { kind }] of declarations)
    if (['class', 'enum', 'function', 'value'].includes(kind)) reach(name, true);
  // Appended to during the loop.
  for (const { declaration, isReceived } of pending)
    for (const { text, isFlipped } of namesOf(declaration))
      for (const each of named.get(text) ?? []) reach(each, isReceived !== isFlipped);
  return { passed: new Set([...passed].filter((name) => !received.has(name))), received };
}

/** The names in the texts of a declaration. */
function namesOf({ signature, members, union }: ApiDeclaration): ReturnType<typeof namesIn> {
  const texts = [signature, ...union, ...Array.from(members.values(), (member) => member.signature)];
  return texts.flatMap((text) => {
    const { parts, typeParameters } = parseSignature(text);
    return [...parts, ...typeParameters].flatMap((part) => namesIn(part));
  });
}
