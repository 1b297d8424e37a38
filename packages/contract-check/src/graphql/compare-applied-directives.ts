import type { ConstDirectiveNode, TypeNode } from 'graphql';
import type { Rule } from '../change.ts';
import { onlyIn } from '../differences.ts';
import type { Verdict } from '../verdict.ts';
import type { Comparison } from './comparison.ts';
import { byName, canonicalLiteral, type Documented, type GraphqlContract } from './contract.ts';
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
  compareDescriptions(comparison, coordinate, from, to);
  compareDeprecations(comparison, coordinate, from, to);
  compareAppliedDirectives(comparison, coordinate, from, to, position);
}

export function compareDescriptions({ found }: Comparison, coordinate: string, from: Documented, to: Documented): void {
  const [before, now] = [from.description?.value, to.description?.value];
  if (before === now) return;
  const what = before === undefined ? 'added' : now === undefined ? 'removed' : 'changed';
  found(graphqlRules.descriptionChanged, coordinate, `The description was ${what}.`);
}

function compareDeprecations({ found }: Comparison, coordinate: string, from: Documented, to: Documented): void {
  const [before, after] = [deprecationReason(from), deprecationReason(to)];
  if (before === after) return;
  if (before === null) found(graphqlRules.deprecated, coordinate, `It was deprecated: ${after}`);
  else if (after === null) found(graphqlRules.deprecationRevoked, coordinate, 'It is no longer deprecated.');
  else {
    const message = `The deprecation reason changed from "${before}" to "${after}".`;
    found(graphqlRules.deprecationReasonChanged, coordinate, message);
  }
}

/** Null if the element is not deprecated. */
function deprecationReason({ directives = [] }: Documented): string | null {
  const directive = directives.find(({ name }) => name.value === 'deprecated');
  if (directive === undefined) return null;
  const reason = directive.arguments?.find(({ name }) => name.value === 'reason')?.value;
  return reason?.kind === 'StringValue' ? reason.value : 'No longer supported';
}

/** The arguments of one application: canonical literals by name, with the defaults of the definition filled in. */
type Application = ReadonlyMap<string, string>;

const configuredRules: Readonly<Record<Verdict, readonly Rule[]>> = {
  none: [],
  patch: [graphqlRules.directiveConfiguredPatch],
  minor: [graphqlRules.directiveConfiguredMinor],
  major: [graphqlRules.directiveConfiguredMajor],
};

/** A schema element to which directives can be applied. A field has a type. */
interface Element extends Documented {
  readonly type?: TypeNode;
}

/** The applications of one directive to an element, their texts, and the type of the element. */
type Applications = ReturnType<typeof applicationsOf>;

/** Skips `@deprecated`, which `compareDocumented` compares. */
export function compareAppliedDirectives(
  comparison: Comparison,
  coordinate: string,
  from: Element,
  to: Element,
  position: Position,
): void {
  const applied = [...(from.directives ?? []), ...(to.directives ?? [])];
  for (const name of new Set(applied.map((node) => node.name.value))) {
    const [old, now] = [applicationsOf(comparison.from, from, name), applicationsOf(comparison.to, to, name)];
    if (name === 'deprecated' || JSON.stringify(old.texts.toSorted()) === JSON.stringify(now.texts.toSorted()))
      continue;
    const message = describeApplications(name, old.texts, now.texts);
    for (const rule of rulesFor(comparison, name, old, now, position)) comparison.found(rule, coordinate, message);
  }
}

function rulesFor(
  { directives, isFederated }: Comparison,
  name: string,
  from: Applications,
  to: Applications,
  position: Position,
): Iterable<Rule> {
  const configured = directives.get(name);
  if (configured !== undefined) return configuredRules[configured];
  const federated = isFederated ? federationRules(name, from.texts, to.texts) : null;
  if (federated !== null) return federated;
  if (name === 'oneOf') return [from.list.length === 0 ? graphqlRules.oneOfAdded : graphqlRules.oneOfRemoved];
  if (name === 'specifiedBy')
    return [from.list.length === 0 ? graphqlRules.specifiedByAdded : graphqlRules.specifiedByChanged];
  if (name === 'semanticNonNull') return semanticNonNullRules(from, to);
  // Several applications of one directive cannot be matched with each other.
  if (from.list.length > 1 || to.list.length > 1) return [graphqlRules.directiveUndecided];
  const [before, now] = [from.list[0], to.list[0]];
  const names = new Set([...(before?.keys() ?? []), ...(now?.keys() ?? [])]);
  const changed = [...names].filter((each) => before?.get(each) !== now?.get(each));
  // No argument differs, so a directive without arguments, such as `@internal`, was added or removed.
  if (changed.length === 0) return [graphqlRules.directiveUndecided];
  return new Set(
    changed.flatMap((argument) => {
      const meaning = (costs.get(name) ?? bounds).get(argument) ?? null;
      return rulesOfArgument(meaning, position, before?.get(argument), now?.get(argument));
    }),
  );
}

/** The rules for the levels of lists at which a field is null only if there is an error. */
function semanticNonNullRules(from: Applications, to: Applications): Rule[] {
  const [before, now] = [guaranteedLevels(from), guaranteedLevels(to)];
  return [
    ...(onlyIn(now, before).length === 0 ? [] : [graphqlRules.semanticNonNullAdded]),
    ...(onlyIn(before, now).length === 0 ? [] : [graphqlRules.semanticNonNullRemoved]),
  ];
}

/** Non-null levels are guaranteed too, so `!` can replace the directive. */
function guaranteedLevels({ list, type }: Applications): Set<string> {
  const levels = list.flatMap((each) => (each.get('levels') ?? '[0]').match(/\d+/g) ?? []);
  return new Set([...levels, ...(type === undefined ? [] : nonNullLevels(type, 0))]);
}

function nonNullLevels(type: TypeNode, level: number): string[] {
  if (type.kind === 'NonNullType') return [String(level), ...nonNullLevels(type.type, level)];
  return type.kind === 'ListType' ? nonNullLevels(type.type, level + 1) : [];
}

/** The rules for an argument that restricts or costs more, and for one that restricts or costs less, by the side of the values. */
const boundRules = {
  input: { more: graphqlRules.inputBoundTightened, less: graphqlRules.inputBoundLoosened },
  output: { more: graphqlRules.outputBoundTightened, less: graphqlRules.outputBoundLoosened },
};
const costRule = { more: graphqlRules.costRaised, less: graphqlRules.costLowered };
const costRules: typeof boundRules = { input: costRule, output: costRule };

/** @param meaning null if it is unknown */
function rulesOfArgument(meaning: ArgumentMeaning | null, position: Position, before?: string, after?: string): Rule[] {
  const effect = meaning === null ? null : effectOf(meaning, before, after);
  if (effect === null) return [graphqlRules.directiveUndecided];
  const rules = meaning === 'cost' ? costRules : boundRules;
  return (position === 'both' ? (['input', 'output'] as const) : [position]).map((side) => rules[side][effect]);
}

/** Null if it depends on the meaning of the directive whether the new value of an argument restricts or costs more or less. */
function effectOf(meaning: ArgumentMeaning, before?: string, after?: string): 'more' | 'less' | null {
  if (before === undefined) return 'more';
  if (after === undefined) return 'less';
  const [old, now] = [toNumber(before), toNumber(after)];
  if (!Number.isFinite(old) || !Number.isFinite(now) || meaning === 'restriction') return null;
  if (meaning === 'divisor' && now % old !== 0) return old % now === 0 ? 'less' : null;
  if (meaning === 'divisor') return 'more';
  return (meaning === 'upper bound' ? now < old : now > old) ? 'more' : 'less';
}

function applicationsOf(contract: GraphqlContract, { directives = [], type }: Element, name: string) {
  const nodes = directives.filter((node) => node.name.value === name);
  const list = nodes.map((node) => applicationOf(contract, node));
  return { list, texts: list.map(printApplication), type };
}

function applicationOf(contract: GraphqlContract, node: ConstDirectiveNode): Application {
  const application = new Map<string, string>();
  const defined = byName(contract.directiveDefinitions.get(node.name.value)?.arguments);
  for (const [name, { type, defaultValue }] of defined)
    if (defaultValue !== undefined) application.set(name, canonicalLiteral(contract, type, defaultValue));
  for (const [name, { value }] of byName(node.arguments)) {
    const literal = canonicalLiteral(contract, defined.get(name)?.type, value);
    application.set(name, canonicalArgument(node.name.value, name, literal));
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
