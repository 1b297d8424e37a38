import { named } from '../change.ts';
import type { Verdict } from '../verdict.ts';

interface DirectedRuleText {
  /** A clause that names the change, for `explain`. */
  readonly what: string;
  readonly producer: Effect;
  readonly consumer: Effect;
}

export interface DirectedRule extends DirectedRuleText {
  readonly id: string;
}

/** What a change means in one direction. */
interface Effect {
  readonly verdict: Verdict;
  readonly why: string;
}

const outputNarrowed: Effect = {
  verdict: 'minor',
  why: 'Receivers already handle every value that is sent, but the stronger guarantee cannot be withdrawn later.',
};
const outputWidened: Effect = { verdict: 'major', why: 'A receiver gets a value that the old schema excluded.' };
const inputWidened: Effect = { verdict: 'minor', why: 'Every value that was accepted is still accepted.' };
const inputNarrowed: Effect = { verdict: 'major', why: 'A sender of a value that was accepted is rejected.' };
const patternsNotCompared: Effect = {
  verdict: 'major',
  why: 'Values may become valid or invalid, because two regular expressions cannot be compared.',
};
const deprecated: Effect = {
  verdict: 'minor',
  why: 'Semantic Versioning requires a minor when functionality is deprecated.',
};
const deprecationRevoked: Effect = { verdict: 'minor', why: 'Senders and receivers can rely on it again.' };
const accessOpened: Effect = { verdict: 'minor', why: 'Every use that was allowed is still allowed.' };
const identityChanged: Effect = {
  verdict: 'major',
  why: 'Validators interpret a schema by its `$schema`, and other schemas refer to it by its `$id`.',
};
const dialectChanged: Effect = {
  verdict: 'minor',
  why: 'The same values are valid, for validators that support the new draft.',
};
const documentation: Effect = { verdict: 'patch', why: 'Documentation only: the same values are valid.' };

/** Fewer values are valid. */
const narrower = { producer: outputNarrowed, consumer: inputNarrowed };
/** More values are valid. */
const wider = { producer: outputWidened, consumer: inputWidened };

/**
 * The rules for JSON Schema. Unless a rule differs, fewer valid values break senders and more valid values receivers.
 */
export const jsonSchemaRules = named('json-schema', {
  // Types
  typeAdded: {
    what: 'a type becomes valid (`type` lists one more or is removed, or `integer` becomes `number`)',
    ...wider,
  },
  typeRemoved: { what: 'a type is no longer valid (for example, `number` becomes `integer`)', ...narrower },
  nullAdded: { what: 'null becomes valid, in any notation', ...wider },
  nullRemoved: { what: 'null is no longer valid', ...narrower },
  // Values
  enumValueAdded: {
    what: 'a value is added to an `enum`',
    producer: { verdict: 'minor', why: 'Outputs are open: receivers must accept unknown values.' },
    consumer: inputWidened,
  },
  enumValueAddedClosed: {
    what: 'a value is added to an `enum`, with closed outputs',
    producer: { verdict: 'major', why: 'Outputs are closed: a receiver may handle only the values that it knows.' },
    consumer: inputWidened,
  },
  enumValueRemoved: {
    what: 'a value is removed from an `enum`',
    producer: { verdict: 'major', why: 'A receiver that waits for the value never gets it.' },
    consumer: inputNarrowed,
  },
  constWidened: {
    what: 'a `const` becomes one of several values',
    producer: { verdict: 'major', why: 'A receiver may rely on a constant, which is not an open enum.' },
    consumer: inputWidened,
  },
  constChanged: {
    what: 'a `const` changes to another value',
    producer: outputWidened,
    consumer: inputNarrowed,
  },
  valuesListed: { what: 'an `enum` or `const` is added', ...narrower },
  valuesUnlisted: { what: 'an `enum` or `const` is removed', ...wider },
  // Bounds and texts
  boundTightened: {
    what: 'a bound is tightened or added (`maximum`, `minLength`, `maxItems`, `uniqueItems`, `multipleOf`, …)',
    ...narrower,
  },
  boundLoosened: { what: 'a bound is loosened or removed', ...wider },
  patternAdded: { what: 'a `pattern` is added', ...narrower },
  patternRemoved: { what: 'a `pattern` is removed', ...wider },
  patternChanged: {
    what: 'a `pattern` changes',
    producer: patternsNotCompared,
    consumer: patternsNotCompared,
  },
  formatNarrowed: { what: 'a `format` is added or narrowed (for example, `idn-email` to `email`)', ...narrower },
  formatWidened: { what: 'a `format` is removed or widened (for example, `email` to `idn-email`)', ...wider },
  formatChanged: { what: 'a `format` changes to an unrelated one', producer: outputWidened, consumer: inputNarrowed },
  // Objects
  propertyAdded: {
    what: 'a property is declared in an open object',
    producer: { verdict: 'minor', why: 'Receivers ignore unknown properties.' },
    consumer: { verdict: 'minor', why: 'Existing senders do not send it, because the name had no meaning.' },
  },
  propertyAddedClosed: {
    what: 'a property is added to a closed object (`additionalProperties: false`)',
    producer: { verdict: 'major', why: 'A receiver that validates with the old schema rejects the new property.' },
    consumer: inputWidened,
  },
  propertyRemoved: {
    what: 'a property is removed, required or not',
    producer: { verdict: 'major', why: 'A receiver that reads the property does not find it.' },
    consumer: { verdict: 'major', why: 'A sender of the property is rejected, or its value is silently ignored.' },
  },
  propertyForbidden: { what: 'an undeclared property is forbidden (`false`)', ...narrower },
  requiredAdded: { what: 'a property becomes required', ...narrower },
  requiredRemoved: {
    what: 'a property is no longer required',
    producer: { verdict: 'major', why: 'A receiver that reads the property may not find it.' },
    consumer: inputWidened,
  },
  objectClosed: { what: 'an open object is closed', ...narrower },
  objectOpened: { what: 'a closed object is opened', ...wider },
  // Combinations
  variantAdded: { what: 'a branch is added to an `anyOf` or `oneOf` that has branches of the same type', ...wider },
  variantRemoved: {
    what: 'a branch is removed from an `anyOf` or `oneOf` that keeps branches of the same type',
    producer: { verdict: 'major', why: 'A receiver that waits for the variant never gets it.' },
    consumer: inputNarrowed,
  },
  exclusive: {
    what: 'values that match several branches of a `oneOf` become invalid (`anyOf` becomes `oneOf`, or an overlapping branch is added)',
    ...narrower,
  },
  notExclusive: {
    what: 'values that match several branches of a `oneOf` become valid (`oneOf` becomes `anyOf`, or an overlapping branch is removed)',
    ...wider,
  },
  conditionAdded: {
    what: 'a condition is added (`not`, `if`, `contains`, `dependentRequired`, `dependentSchemas`, `propertyNames`, `patternProperties`, or an `unevaluatedProperties` or `unevaluatedItems` that depends on one)',
    ...narrower,
  },
  conditionRemoved: { what: 'a condition is removed', ...wider },
  // Annotations
  defaultAdded: {
    what: 'a `default` is added',
    producer: { verdict: 'minor', why: 'The old schema did not specify what an absent value means.' },
    consumer: {
      verdict: 'major',
      why: 'Senders that omit the value may get another result, because the schema does not show which value was used before.',
    },
  },
  defaultChanged: {
    what: 'a `default` is changed or removed',
    producer: {
      verdict: 'major',
      why: 'An absent value means something else to a receiver that fills in the default.',
    },
    consumer: { verdict: 'major', why: 'Senders that omit the value silently get another result.' },
  },
  deprecated: {
    what: '`deprecated` is set',
    producer: deprecated,
    consumer: deprecated,
  },
  deprecationRevoked: {
    what: '`deprecated` is removed',
    producer: deprecationRevoked,
    consumer: deprecationRevoked,
  },
  accessRestricted: {
    what: '`writeOnly` is set',
    producer: { verdict: 'major', why: 'A `writeOnly` value is no longer sent to receivers.' },
    consumer: { verdict: 'major', why: 'Senders may rely on reading the value that they sent.' },
  },
  readOnlySet: {
    what: '`readOnly` is set',
    producer: { verdict: 'minor', why: 'Receivers still get the value.' },
    consumer: { verdict: 'major', why: 'A sender of a `readOnly` value is rejected, or its value is ignored.' },
  },
  accessOpened: {
    what: '`readOnly` or `writeOnly` is removed',
    producer: accessOpened,
    consumer: accessOpened,
  },
  discriminatorChanged: {
    what: 'an OpenAPI `discriminator` is added, changed or removed',
    producer: { verdict: 'major', why: 'Receivers choose the type of a value by the discriminator.' },
    consumer: { verdict: 'major', why: 'The owner chooses the type of a value by the discriminator.' },
  },
  dialectChanged: {
    what: 'the `$schema` of the root schema changes to a draft in which every keyword means the same',
    producer: dialectChanged,
    consumer: dialectChanged,
  },
  identityChanged: {
    what: 'the `$id` of the root schema changes, or its `$schema` to a draft in which a keyword means something else',
    producer: identityChanged,
    consumer: identityChanged,
  },
  documentationChanged: {
    what: '`title`, `description`, `examples` or an unknown keyword is added, changed or removed',
    producer: documentation,
    consumer: documentation,
  },
} as const satisfies Record<string, DirectedRuleText>);
