import { named } from '../change.ts';
import type { Verdict } from '../verdict.ts';

/** What a change means in one direction. */
export interface Effect {
  readonly verdict: Verdict;
  readonly why: string;
}

const effectOf =
  (verdict: Verdict) =>
  (why: string): Effect => ({ verdict, why });
const [patch, minor, major] = [effectOf('patch'), effectOf('minor'), effectOf('major')] as const;

const outputNarrowed = minor(
  'Receivers already handle every value that is sent, but the stronger guarantee cannot be withdrawn later.',
);
const outputWidened = major('A receiver gets a value that the old schema excluded.');
const inputWidened = minor('Every value that was accepted is still accepted.');
const inputNarrowed = major('A sender of a value that was accepted is rejected.');

/** @param what a clause that names the change, for `explain` */
const directed = (what: string, producer: Effect, consumer: Effect) => ({ what, producer, consumer });
/** The effect is the same in both directions. */
const alike = (what: string, effect: Effect) => directed(what, effect, effect);
/** Fewer values are valid. */
const narrower = (what: string) => directed(what, outputNarrowed, inputNarrowed);
/** More values are valid. */
const wider = (what: string) => directed(what, outputWidened, inputWidened);

/** The rules for JSON Schema. Unless a rule differs, fewer valid values break senders and more valid values receivers. */
export const jsonSchemaRules = named('json-schema', {
  // Types
  typeAdded: wider('a type becomes valid (`type` lists one more or is removed, or `integer` becomes `number`)'),
  typeRemoved: narrower('a type is no longer valid (for example, `number` becomes `integer`)'),
  nullAdded: wider('null becomes valid, in any notation'),
  nullRemoved: narrower('null is no longer valid'),
  // Values
  enumValueAdded: directed(
    'a value is added to an `enum`',
    minor('Outputs are open: receivers must accept unknown values.'),
    inputWidened,
  ),
  enumValueAddedClosed: directed(
    'a value is added to an `enum`, with closed outputs',
    major('Outputs are closed: a receiver may handle only the values that it knows.'),
    inputWidened,
  ),
  enumValueRemoved: directed(
    'a value is removed from an `enum`',
    major('A receiver that waits for the value never gets it.'),
    inputNarrowed,
  ),
  constWidened: directed(
    'a `const` becomes one of several values',
    major('A receiver may rely on a constant, which is not an open enum.'),
    inputWidened,
  ),
  constChanged: directed('a `const` changes to another value', outputWidened, inputNarrowed),
  valuesListed: narrower('an `enum` or `const` is added'),
  valuesUnlisted: wider('an `enum` or `const` is removed'),
  // Bounds and texts
  boundTightened: narrower(
    'a bound is tightened or added (`maximum`, `minLength`, `maxItems`, `uniqueItems`, `multipleOf`, …)',
  ),
  boundLoosened: wider('a bound is loosened or removed'),
  patternAdded: narrower('a `pattern` is added'),
  patternRemoved: wider('a `pattern` is removed'),
  patternChanged: alike(
    'a `pattern` changes',
    major('Values may become valid or invalid, because two regular expressions cannot be compared.'),
  ),
  formatNarrowed: narrower('a `format` is added or narrowed (for example, `idn-email` to `email`)'),
  formatWidened: wider('a `format` is removed or widened (for example, `email` to `idn-email`)'),
  formatChanged: directed('a `format` changes to an unrelated one', outputWidened, inputNarrowed),
  // Objects
  propertyAdded: directed(
    'a property is declared in an open object',
    minor('Receivers ignore unknown properties.'),
    minor('Existing senders do not send it, because the name had no meaning.'),
  ),
  propertyAddedClosed: directed(
    'a property is added to a closed object (`additionalProperties: false`)',
    major('A receiver that validates with the old schema rejects the new property.'),
    inputWidened,
  ),
  propertyRemoved: directed(
    'a property is removed, required or not',
    major('A receiver that reads the property does not find it.'),
    major('A sender of the property is rejected, or its value is silently ignored.'),
  ),
  propertyForbidden: narrower('an undeclared property is forbidden (`false`)'),
  requiredAdded: narrower('a property becomes required'),
  requiredRemoved: directed(
    'a property is no longer required',
    major('A receiver that reads the property may not find it.'),
    inputWidened,
  ),
  objectClosed: narrower('an open object is closed'),
  objectOpened: wider('a closed object is opened'),
  // Combinations
  variantAdded: wider('a branch is added to an `anyOf` or `oneOf` that has branches of the same type'),
  variantRemoved: directed(
    'a branch is removed from an `anyOf` or `oneOf` that keeps branches of the same type',
    major('A receiver that waits for the variant never gets it.'),
    inputNarrowed,
  ),
  exclusive: narrower(
    'values that match several branches of a `oneOf` become invalid (`anyOf` becomes `oneOf`, or an overlapping branch is added)',
  ),
  notExclusive: wider(
    'values that match several branches of a `oneOf` become valid (`oneOf` becomes `anyOf`, or an overlapping branch is removed)',
  ),
  definitionAdded: alike(
    'a definition is added to a schema that only defines others',
    minor('Other schemas can refer to it from now on.'),
  ),
  definitionRemoved: alike(
    'a definition is removed from a schema that only defines others',
    major('A schema that refers to it is no longer valid.'),
  ),
  conditionAdded: narrower(
    'a condition is added (`not`, `if`, `contains`, `dependentRequired`, `dependentSchemas`, `propertyNames`, `patternProperties`, an `unevaluatedProperties` or `unevaluatedItems` that depends on one, or a `$ref` to something outside of the files)',
  ),
  conditionRemoved: wider('a condition is removed'),
  // Annotations
  defaultAdded: directed(
    'a `default` is added',
    minor('The old schema did not specify what an absent value means.'),
    major(
      'Senders that omit the value may get another result, because the schema does not show which value was used before.',
    ),
  ),
  defaultChanged: directed(
    'a `default` is changed or removed',
    major('An absent value means something else to a receiver that fills in the default.'),
    major('Senders that omit the value silently get another result.'),
  ),
  deprecated: alike(
    '`deprecated` is set',
    minor('Semantic Versioning requires a minor when functionality is deprecated.'),
  ),
  deprecationRevoked: alike('`deprecated` is removed', minor('Senders and receivers can rely on it again.')),
  accessRestricted: directed(
    '`writeOnly` is set',
    major('A `writeOnly` value is no longer sent to receivers.'),
    major('Senders may rely on reading the value that they sent.'),
  ),
  readOnlySet: directed(
    '`readOnly` is set',
    minor('Receivers still get the value.'),
    major('A sender of a `readOnly` value is rejected, or its value is ignored.'),
  ),
  accessOpened: alike('`readOnly` or `writeOnly` is removed', minor('Every use that was allowed is still allowed.')),
  discriminatorChanged: directed(
    'an OpenAPI `discriminator` is added, changed or removed',
    major('Receivers choose the type of a value by the discriminator.'),
    major('The owner chooses the type of a value by the discriminator.'),
  ),
  dialectChanged: alike(
    'the `$schema` of a schema changes to a draft in which every keyword means the same',
    minor('The same values are valid, for validators that support the new draft.'),
  ),
  identityAdded: alike(
    'the root schema gets an `$id`',
    minor('Other schemas can refer to it from now on, and none could before.'),
  ),
  identityChanged: alike(
    'the `$id` of the root schema is changed or removed, or the `$schema` of a schema to a draft in which a keyword means something else',
    major('Validators interpret a schema by its `$schema`, and other schemas refer to it by its `$id`.'),
  ),
  documentationChanged: alike(
    '`title`, `description` or `examples` is added, changed or removed, or the notation of the `$schema` changes',
    patch('Documentation only: the same values are valid.'),
  ),
  unknownKeywordChanged: alike(
    'a keyword that no draft of JSON Schema defines is added, changed or removed',
    patch('Only those who defined the keyword know what it means, so its effect on values was not compared.'),
  ),
});

export type DirectedRule = (typeof jsonSchemaRules)[keyof typeof jsonSchemaRules];
