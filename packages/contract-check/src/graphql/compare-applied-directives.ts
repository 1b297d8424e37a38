import type { ConstDirectiveNode, TypeNode } from 'graphql';
import type { Rule } from '../change.ts';
import type { Verdict } from '../verdict.ts';
import type { Comparison } from './comparison.ts';
import { canonicalLiteral, type Documented, type GraphqlContract } from './contract.ts';
import type { Position } from './exposure.ts';
import { canonicalArgument, federationRules } from './federation.ts';
import { graphqlRules } from './rules.ts';

/** Compares the description, the deprecation and the applied directives of one schema element. */
export function compareDocumented(
  comparison: Comparison,
  coordinate: string,
  from: Documented,
  to: Documented,
  position: Position,
): void {
  compareDescriptions(comparison, coordinate, from.description, to.description);
  compareDeprecations(comparison, coordinate, from, to);
  compareAppliedDirectives(comparison, coordinate, from, to, position);
}

export function compareDescriptions(
  { found }: Comparison,
  coordinate: string,
  from: string | null,
  to: string | null,
): void {
  if (from === to) return;
  let what = 'changed';
  if (from === null) what = 'added';
  if (to === null) what = 'removed';
  found(graphqlRules.descriptionChanged, coordinate, `The description was ${what}.`);
}

function compareDeprecations({ found }: Comparison, coordinate: string, from: Documented, to: Documented): void {
  const before = deprecationReason(from.applied);
  const after = deprecationReason(to.applied);
  if (before === after) return;
  if (before === null) found(graphqlRules.deprecated, coordinate, `It was deprecated: ${after}`);
  else if (after === null) found(graphqlRules.deprecationRevoked, coordinate, 'It is no longer deprecated.');
  else {
    const message = `The deprecation reason changed from "${before}" to "${after}".`;
    found(graphqlRules.deprecationReasonChanged, coordinate, message);
  }
}

/** Null if the element is not deprecated. */
function deprecationReason(applied: readonly ConstDirectiveNode[]): string | null {
  const directive = applied.find(({ name }) => name.value === 'deprecated');
  if (directive === undefined) return null;
  const reason = directive.arguments?.find(({ name }) => name.value === 'reason')?.value;
  return reason?.kind === 'StringValue' ? reason.value : 'No longer supported';
}

/** The arguments of one application: canonical literals by name, with the defaults of the definition filled in. */
type Application = ReadonlyMap<string, string>;

/** How the new value of an argument compares to the old. `undecided` if that depends on the meaning of the directive. */
type Effect = 'tightened' | 'loosened' | 'raised' | 'lowered' | 'undecided';

const configuredRules: Readonly<Record<Verdict, Rule | null>> = {
  none: null,
  patch: graphqlRules.directiveConfiguredPatch,
  minor: graphqlRules.directiveConfiguredMinor,
  major: graphqlRules.directiveConfiguredMajor,
};

/** A schema element to which directives can be applied. A field has a type. */
interface Element {
  readonly applied: readonly ConstDirectiveNode[];
  readonly type?: TypeNode;
}

/** The applications of one directive to an element. */
interface Applications {
  readonly list: readonly Application[];
  /** Of the element. Null if it has none. */
  readonly type: TypeNode | null;
}

/** Skips `@deprecated`, which `compareDocumented` compares. */
export function compareAppliedDirectives(
  comparison: Comparison,
  coordinate: string,
  from: Element,
  to: Element,
  position: Position,
): void {
  if (from.applied.length === 0 && to.applied.length === 0) return;
  for (const name of new Set([...from.applied, ...to.applied].map((node) => node.name.value))) {
    if (name === 'deprecated') continue;
    const [old, now] = [applicationsOf(comparison.from, from, name), applicationsOf(comparison.to, to, name)];
    compareApplications(comparison, coordinate, name, old, now, position);
  }
}

function compareApplications(
  comparison: Comparison,
  coordinate: string,
  name: string,
  from: Applications,
  to: Applications,
  position: Position,
): void {
  const before = from.list.map(printApplication);
  const after = to.list.map(printApplication);
  if (JSON.stringify(before.toSorted()) === JSON.stringify(after.toSorted())) return;
  const message = describeApplications(name, before, after);
  const isAdded = after.some((each) => !before.includes(each));
  const isRemoved = before.some((each) => !after.includes(each));
  const known = comparison.isFederated && !comparison.directives.has(name);
  const rules = known ? federationRules(name, isAdded, isRemoved) : null;
  for (const rule of rules ?? rulesFor(comparison, name, from, to, position))
    comparison.found(rule, coordinate, message);
}

function rulesFor(
  { directives }: Comparison,
  name: string,
  from: Applications,
  to: Applications,
  position: Position,
): Iterable<Rule> {
  const configured = directives.get(name);
  if (configured !== undefined) {
    const rule = configuredRules[configured];
    return rule === null ? [] : [rule];
  }
  if (name === 'oneOf') return [from.list.length === 0 ? graphqlRules.oneOfAdded : graphqlRules.oneOfRemoved];
  if (name === 'specifiedBy')
    return [from.list.length === 0 ? graphqlRules.specifiedByAdded : graphqlRules.specifiedByChanged];
  if (name === 'semanticNonNull') return semanticNonNullRules(from, to);
  // Several applications of one directive cannot be matched with each other.
  if (from.list.length > 1 || to.list.length > 1) return [graphqlRules.directiveUndecided];
  const effects = effectsOf(name, from.list[0] ?? new Map<string, string>(), to.list[0] ?? new Map<string, string>());
  return new Set(effects.flatMap((effect) => rulesOfEffect(effect, position)));
}

/** The rules for the levels of lists at which a field is null only if there is an error. */
function semanticNonNullRules(from: Applications, to: Applications): Rule[] {
  const [before, now] = [guaranteedLevels(from), guaranteedLevels(to)];
  return [
    ...([...now].every((level) => before.has(level)) ? [] : [graphqlRules.semanticNonNullAdded]),
    ...([...before].every((level) => now.has(level)) ? [] : [graphqlRules.semanticNonNullRemoved]),
  ];
}

/** Non-null levels are guaranteed too, so `!` can replace the directive. */
function guaranteedLevels({ list, type }: Applications): Set<string> {
  const levels = list.flatMap((each) => (each.get('levels') ?? '[0]').match(/\d+/g) ?? []);
  return new Set([...levels, ...(type === null ? [] : nonNullLevels(type, 0))]);
}

function nonNullLevels(type: TypeNode, level: number): string[] {
  if (type.kind === 'NonNullType') return [String(level), ...nonNullLevels(type.type, level)];
  return type.kind === 'ListType' ? nonNullLevels(type.type, level + 1) : [];
}

function effectsOf(directive: string, from: Application, to: Application): Effect[] {
  const effects: Effect[] = [];
  for (const name of new Set([...from.keys(), ...to.keys()])) {
    const before = from.get(name) ?? 'null';
    const after = to.get(name) ?? 'null';
    if (before !== after) effects.push(effectOf(argumentMeaning(directive, name), before, after));
  }
  // No argument differs, so a directive without arguments, such as `@internal`, was added or removed.
  return effects.length === 0 ? ['undecided'] : effects;
}

function effectOf(meaning: ArgumentMeaning | null, before: string, after: string): Effect {
  if (meaning === null) return 'undecided';
  const [more, less] = meaning === 'cost' ? (['raised', 'lowered'] as const) : (['tightened', 'loosened'] as const);
  if (before === 'null') return more;
  if (after === 'null') return less;
  const [old, now] = [toNumber(before), toNumber(after)];
  if (!Number.isFinite(old) || !Number.isFinite(now) || meaning === 'restriction') return 'undecided';
  if (meaning === 'divisor' && now % old !== 0) return old % now === 0 ? less : 'undecided';
  if (meaning === 'divisor') return more;
  return (meaning === 'upper bound' ? now < old : now > old) ? more : less;
}

function rulesOfEffect(effect: Effect, position: Position): Rule[] {
  if (effect === 'undecided') return [graphqlRules.directiveUndecided];
  if (effect === 'raised') return [graphqlRules.costRaised];
  if (effect === 'lowered') return [graphqlRules.costLowered];
  const tightened = effect === 'tightened';
  const rules: Rule[] = [];
  if (position !== 'output') rules.push(tightened ? graphqlRules.inputBoundTightened : graphqlRules.inputBoundLoosened);
  if (position !== 'input')
    rules.push(tightened ? graphqlRules.outputBoundTightened : graphqlRules.outputBoundLoosened);
  return rules;
}

function applicationsOf(contract: GraphqlContract, { applied, type }: Element, name: string): Applications {
  const nodes = applied.filter((node) => node.name.value === name);
  return { list: nodes.map((node) => applicationOf(contract, node)), type: type ?? null };
}

function applicationOf(contract: GraphqlContract, node: ConstDirectiveNode): Application {
  const application = new Map<string, string>();
  const definition = contract.directives.get(node.name.value);
  for (const { name, type, defaultValue } of definition?.args.values() ?? []) {
    if (defaultValue !== null) application.set(name, canonicalLiteral(contract, type, defaultValue));
  }
  for (const { name, value } of node.arguments ?? []) {
    const literal = canonicalLiteral(contract, definition?.args.get(name.value)?.type, value);
    application.set(name.value, canonicalArgument(node.name.value, name.value, literal));
  }
  // An argument that is null equals one that is omitted. An entity is resolvable by default.
  return new Map(
    [...application].filter(([name, value]) => value !== 'null' && `${name}:${value}` !== 'resolvable:true'),
  );
}

/** Accepts a number in a string, because some directives take one: `@cost(weight: "2.5")`. */
function toNumber(literal: string): number {
  return Number(/^"(.+)"$/.exec(literal)?.[1] ?? literal);
}

function printApplication(application: Application): string {
  const args = [...application].map(([name, value]) => `${name}: ${value}`).toSorted();
  return args.length === 0 ? '' : `(${args.join(', ')})`;
}

function describeApplications(name: string, from: readonly string[], to: readonly string[]): string {
  const print = (applications: readonly string[]) => applications.map((args) => `@${name}${args}`).join(' ');
  if (from.length === 0) return `${print(to)} was added.`;
  return to.length === 0 ? `${print(from)} was removed.` : `${print(from)} changed to ${print(to)}.`;
}

/**
 * The meaning of the arguments of widely used directives, by argument name. `@constraint`, `@length`, `@range` and
 * similar directives of several packages share these names.
 */
type ArgumentMeaning = 'upper bound' | 'lower bound' | 'divisor' | 'restriction' | 'cost';

const bounds: ReadonlyMap<string, ArgumentMeaning> = new Map([
  ...meant('upper bound', 'max maximum maxLength maxItems exclusiveMax exclusiveMaximum'),
  ...meant('lower bound', 'min minimum minLength minItems exclusiveMin exclusiveMinimum'),
  ...meant('divisor', 'multipleOf'),
  // Adding and removing these can be compared. Two different texts cannot.
  ...meant('restriction', 'pattern format startsWith endsWith contains notContains'),
]);

const costs: ReadonlyMap<string, ReadonlyMap<string, ArgumentMeaning>> = new Map([
  ['cost', new Map(meant('cost', 'weight complexity value'))],
  ['complexity', new Map(meant('cost', 'value'))],
  ['listSize', new Map(meant('cost', 'assumedSize'))],
]);

function meant(of: ArgumentMeaning, names: string): (readonly [name: string, ArgumentMeaning])[] {
  return names.split(' ').map((name) => [name, of]);
}

/** Null if the meaning is unknown. */
function argumentMeaning(directive: string, argument: string): ArgumentMeaning | null {
  return (costs.get(directive) ?? bounds).get(argument) ?? null;
}
